package cli

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

// companies are all there are.
func (c *client) companies(ctx context.Context) ([]api.Company, error) {
	return list[api.Company](ctx, c, "/companies", nil)
}

// companyID is the company that a command works in: the one asked for, by id or
// name, else the only one. KindInvalid when there is none or several.
func (a *app) companyID(ctx context.Context, c *client) (uuid.UUID, error) {
	asked := strings.TrimSpace(a.flags.company)
	if id, err := environment.ParseID("company", asked); err == nil {
		return id, nil
	}
	all, err := c.companies(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	if asked != "" {
		for _, company := range all {
			if environment.NameKey(company.Name) == environment.NameKey(asked) {
				return company.ID, nil
			}
		}
		return uuid.Nil, environment.NewError(environment.KindNotFound, "company_not_found", "There is no company called "+asked+".")
	}
	switch len(all) {
	case 1:
		return all[0].ID, nil
	case 0:
		return uuid.Nil, noCompany()
	}
	var called []string
	for _, company := range all {
		called = append(called, company.Name)
	}
	return uuid.Nil, environment.Invalid("company_required", "There are several companies: "+strings.Join(called, ", ")+".").
		Remedy("Choose one with --company.")
}

// anyCompany is a company for paths that carry one although what they answer
// belongs to the instance.
func (a *app) anyCompany(ctx context.Context, c *client) (uuid.UUID, error) {
	if a.flags.company != "" {
		return a.companyID(ctx, c)
	}
	all, err := c.companies(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	if len(all) == 0 {
		return uuid.Nil, noCompany()
	}
	return all[0].ID, nil
}

func noCompany() error {
	return environment.Invalid("company_required", "There is no company yet.").
		Remedy(`Create one with "berth company create NAME".`)
}

// find returns the environment of an id or, failing that, a name, without
// regard to case.
func (a *app) find(ctx context.Context, c *client, idOrName string) (api.Environment, error) {
	var found api.Environment
	if id, err := environment.ParseID("environment", idOrName); err == nil {
		err := c.call(ctx, request{method: http.MethodGet, path: "/environments/" + id.String(), into: &found})
		return found, err
	}
	clean, _ := environment.CleanName(idOrName)
	all, err := a.environments(ctx, c, url.Values{"q": {clean}})
	if err != nil {
		return found, err
	}
	for _, e := range all {
		if environment.NameKey(e.Name) == environment.NameKey(clean) {
			return e, nil
		}
	}
	return found, environment.NewError(environment.KindNotFound, environment.CodeEnvironmentNotFound,
		"There is no environment called "+idOrName+".")
}

// environments lists what a query asks for, page by page. They belong to the
// instance: a company is named only by who asked for one.
func (a *app) environments(ctx context.Context, c *client, query url.Values) ([]api.Environment, error) {
	path, err := a.instancePath(ctx, c, "/environments")
	if err != nil {
		return nil, err
	}
	return list[api.Environment](ctx, c, path, query)
}

// instancePath is the path of something that belongs to the instance, within the
// company that was asked for, if one was.
func (a *app) instancePath(ctx context.Context, c *client, path string) (string, error) {
	if a.flags.company == "" {
		return path, nil
	}
	company, err := a.companyID(ctx, c)
	return "/companies/" + company.String() + path, err
}

// completeEnvironments offers names to the shell.
func (a *app) completeEnvironments(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	if len(args) > 0 {
		return nil, none
	}
	return a.environmentNames(cmd), none
}

func (a *app) environmentNames(cmd *cobra.Command) []string {
	c, err := a.client()
	if err != nil {
		return nil
	}
	all, err := a.environments(cmd.Context(), c, nil)
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range all {
		found = append(found, e.Name)
	}
	return found
}

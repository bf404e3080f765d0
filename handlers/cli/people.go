package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"berth/environment"
	"berth/handlers/api"

	"github.com/spf13/cobra"
)

func (a *app) peopleCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "people", Aliases: []string{"person"}, Short: "People: list, invite, roles, disable"}
	yes := true
	no := false
	cmd.AddCommand(
		a.peopleListCommand(), a.inviteCommand(), a.roleCommand(),
		a.personChangeCommand("disable", "Keep somebody from signing in, and end their sessions", api.PersonPatch{Disabled: &yes}),
		a.personChangeCommand("enable", "Let somebody sign in again", api.PersonPatch{Disabled: &no}),
		a.personChangeCommand("make-admin", "Make somebody an instance admin", api.PersonPatch{IsInstanceAdmin: &yes}),
		a.personChangeCommand("unmake-admin", "Make an instance admin an ordinary person", api.PersonPatch{IsInstanceAdmin: &no}),
		a.passwordLinkCommand(),
	)
	group(cmd)
	return cmd
}

func (a *app) peopleListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List everybody", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return each(a, cmd.Context(), "/people", func(w io.Writer, all []api.Person) {
				t := newTable(w, "NAME", "E-MAIL", "IS", "COMPANIES", "LAST SEEN", "ID")
				for _, p := range all {
					t.row(p.Name, p.Email, standing(p), fmt.Sprint(len(p.Memberships)), a.when(p.LastSeenAt, "never"), p.ID.String())
				}
				t.flush()
			})
		},
	}
}

func standing(p api.Person) string {
	switch {
	case p.Disabled:
		return "disabled"
	case p.IsInstanceAdmin:
		return "instance admin"
	}
	return "person"
}

// findPerson returns somebody by id or e-mail address.
func (a *app) findPerson(ctx context.Context, idOrEmail string) (api.Person, error) {
	c, err := a.client()
	if err != nil {
		return api.Person{}, err
	}
	if id, err := environment.ParseID("person", idOrEmail); err == nil {
		var p api.Person
		err := c.call(ctx, request{method: http.MethodGet, path: "/people/" + id.String(), into: &p})
		return p, err
	}
	all, err := list[api.Person](ctx, c, "/people", nil)
	if err != nil {
		return api.Person{}, err
	}
	for _, p := range all {
		if strings.EqualFold(p.Email, strings.TrimSpace(idOrEmail)) {
			return p, nil
		}
	}
	return api.Person{}, environment.NewError(environment.KindNotFound, "person_not_found", "Nobody here has the address "+idOrEmail+".")
}

func (a *app) personChangeCommand(verb, short string, body api.PersonPatch) *cobra.Command {
	return &cobra.Command{
		Use: verb + " PERSON", Short: short, Args: exactly("PERSON"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.findPerson(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return ask(a, cmd.Context(), change("/people/"+p.ID.String(), body), func(w io.Writer, p api.Person) {
				writef(w, "%s: %s.\n", printable(p.Email), standing(p))
			})
		},
	}
}

func (a *app) inviteCommand() *cobra.Command {
	var admin bool
	var role string
	cmd := &cobra.Command{
		Use:   "invite E-MAIL [--role owner|admin|member] [--instance-admin]",
		Short: "Make an invitation; its link is shown once",
		Args:  exactly("E-MAIL"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body := api.NewInvitation{Email: args[0], IsInstanceAdmin: &admin}
		if role != "" {
			c, err := a.client()
			if err != nil {
				return err
			}
			company, err := a.companyID(cmd.Context(), c)
			if err != nil {
				return err
			}
			body.Memberships = []api.Membership{{CompanyID: company, Role: role}}
		}
		return ask(a, cmd.Context(), post("/invitations", body), a.printLink)
	}
	cmd.Flags().BoolVar(&admin, "instance-admin", false, "may do everything")
	cmd.Flags().StringVar(&role, "role", "", "role in the company (--company): owner, admin or member")
	return cmd
}

func (a *app) printLink(w io.Writer, made api.MadeInvitation) {
	a.say("For %s, once, until %s. This is the only time that it is shown:", printable(made.Email), a.when(&made.ExpiresAt, ""))
	writef(w, "%s\n", made.URL)
}

func (a *app) passwordLinkCommand() *cobra.Command {
	return &cobra.Command{
		Use: "password-link PERSON", Short: "Make a link with which somebody sets a new password", Args: exactly("PERSON"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.findPerson(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return ask(a, cmd.Context(), post("/people/"+p.ID.String()+"/password-link", struct{}{}), a.printLink)
		},
	}
}

func (a *app) roleCommand() *cobra.Command {
	return &cobra.Command{
		Use: "role PERSON owner|admin|member|none", Short: "Give somebody a role in the company, or take it away", Args: exactly("PERSON", "ROLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.findPerson(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			path, err := a.inCompany(cmd.Context(), "/members/"+p.ID.String())
			if err != nil {
				return err
			}
			r := request{method: http.MethodPut, path: path, body: api.SetRole{Role: args[1]}}
			if args[1] == "none" {
				r = remove(path)
			}
			return a.tell(cmd.Context(), r, printable(p.Email)+" has the role "+args[1]+" now.")
		},
	}
}

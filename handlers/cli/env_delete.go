package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"berth/handlers/api"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// impact is what deleting would touch, as the API tells it.
type impact struct {
	EnvironmentID        uuid.UUID      `json:"environmentId"`
	CanDelete            bool           `json:"canDelete"`
	DeleteBlockedReasons []string       `json:"deleteBlockedReasons"`
	StaticReferences     map[string]any `json:"staticReferences"`
	ActiveRuntimeUse     map[string]any `json:"activeRuntimeUse"`
}

func (c *client) impact(ctx context.Context, id uuid.UUID) (impact, error) {
	var i impact
	err := c.call(ctx, request{method: http.MethodGet, path: "/environments/" + id.String() + "/delete-blast-radius", into: &i})
	return i, err
}

func (a *app) envImpactCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "impact ENVIRONMENT",
		Short:             "Show what deleting an environment would touch",
		Args:              exactly("ENVIRONMENT"),
		ValidArgsFunction: a.completeEnvironments,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			e, err := a.find(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			i, err := c.impact(cmd.Context(), e.ID)
			if err != nil {
				return err
			}
			return a.show(i, func(w io.Writer) { printImpact(w, e.Name, i) })
		},
	}
}

func printImpact(w io.Writer, name string, i impact) {
	if i.CanDelete {
		writef(w, "%s can be deleted.\n", printable(name))
	} else {
		writef(w, "%s cannot be deleted: %s.\n", printable(name), strings.Join(i.DeleteBlockedReasons, ", "))
	}
	t := newTable(w, "WHAT", "COUNT")
	for _, counts := range []map[string]any{i.StaticReferences, i.ActiveRuntimeUse} {
		for _, key := range sortedKeys(counts) {
			t.row(key, fmt.Sprint(counts[key]))
		}
	}
	t.flush()
}

func (a *app) envDeleteCommand() *cobra.Command {
	var yes bool
	var reassign string
	cmd := &cobra.Command{
		Use:               "delete ENVIRONMENT [--yes] [--reassign-to ENVIRONMENT]",
		Aliases:           []string{"rm"},
		Short:             "Delete an environment and its secrets; runs stay readable",
		Args:              exactly("ENVIRONMENT"),
		ValidArgsFunction: a.completeEnvironments,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !yes && !interactive(a.env.In) {
			return &usageError{"deleting needs --yes when there is no terminal to ask at"}
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		e, err := a.find(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		query := url.Values{}
		if reassign != "" {
			other, err := a.find(cmd.Context(), c, reassign)
			if err != nil {
				return err
			}
			query.Set("reassignTo", other.ID.String())
		}
		if !yes {
			i, err := c.impact(cmd.Context(), e.ID)
			if err != nil {
				return err
			}
			printImpact(a.env.Err, e.Name, i)
			if !a.confirm(fmt.Sprintf("Delete %s?", printable(e.Name))) {
				return &exitError{code: exitFailed, cause: fmt.Errorf("%s was not deleted", e.Name)}
			}
		}
		var gone api.Environment
		path := "/environments/" + e.ID.String()
		if len(query) > 0 {
			path += "?" + query.Encode()
		}
		if err := c.call(cmd.Context(), request{method: http.MethodDelete, path: path, into: &gone}); err != nil {
			return err
		}
		return a.show(gone, func(w io.Writer) { writef(w, "Deleted %s.\n", printable(gone.Name)) })
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().StringVar(&reassign, "reassign-to", "", "environment that takes over as the default")
	return cmd
}

// interactive reports whether somebody can answer a question.
func interactive(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (a *app) confirm(question string) bool {
	writef(a.env.Err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(a.env.In).ReadString('\n')
	if err != nil {
		return false
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

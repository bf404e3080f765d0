package cli

import (
	"fmt"
	"io"
	"net/http"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

func (a *app) envCreateCommand() *cobra.Command {
	in := &inputs{}
	cmd := &cobra.Command{
		Use:   "create --name NAME (--host HOST --user USER --workspace FOLDER [--key-file FILE] | --provider PROVIDER --image IMAGE [--set KEY=VALUE])",
		Short: "Save a new environment",
		Example: `  berth env create --name "Build box" --host build.example.com --user runner \
    --workspace /srv/work --key-file ~/.ssh/id_ed25519
  berth env create --name Sandbox --provider docker --image debian:12-slim --set memoryMiB=512 \
    --set-file registryPassword=token.txt --max-leases 4
  berth env create --file body.json`,
		Args: exactly(),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		body, err := in.body(a, cmd.Flags())
		if err != nil {
			return err
		}
		if _, ok := body["name"]; !ok {
			return &usageError{"--name is required"}
		}
		if err := in.budget.into(cmd.Flags(), body, nil); err != nil {
			return err
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		if err := in.sandbox(cmd.Context(), a, c, body, nil); err != nil {
			return err
		}
		if _, ok := body["driver"]; !ok {
			body["driver"] = environment.DriverSSH
		}
		company, err := a.anyCompany(cmd.Context(), c)
		if err != nil {
			return err
		}
		var made api.Environment
		path := "/companies/" + company.String() + "/environments"
		if err := c.call(cmd.Context(), request{method: http.MethodPost, path: path, body: body, into: &made}); err != nil {
			return err
		}
		return a.show(made, func(w io.Writer) {
			writef(w, "Saved %s, %s (%s).\n", printable(made.Name), address(made), made.ID)
			switch made.Driver {
			case environment.DriverSSH:
				writef(w, "Next: berth env scan-host-key %q, then berth env probe %q.\n", made.Name, made.Name)
			case environment.DriverSandbox:
				writef(w, "Next: berth env probe %q.\n", made.Name)
			}
		})
	}
	in.register(cmd.Flags())
	in.budget.register(cmd.Flags())
	return cmd
}

func (a *app) envUpdateCommand() *cobra.Command {
	in := &inputs{}
	var revision int
	cmd := &cobra.Command{
		Use:               "update ENVIRONMENT [--port PORT] [--clear FIELD] ...",
		Aliases:           []string{"edit", "set"},
		Short:             "Change what the flags name; the rest stays",
		Args:              exactly("ENVIRONMENT"),
		ValidArgsFunction: a.completeEnvironments,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		body, err := in.body(a, cmd.Flags())
		if err != nil {
			return err
		}
		if len(body) == 0 && !in.sandboxFlags.any() && !in.budget.any(cmd.Flags()) {
			return &usageError{"nothing to change: name a flag"}
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		e, err := a.find(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		if err := in.budget.into(cmd.Flags(), body, e.Budget); err != nil {
			return err
		}
		if err := in.sandbox(cmd.Context(), a, c, body, &e); err != nil {
			return err
		}
		changed, err := patch(cmd, c, e.ID, body, revision)
		if err != nil {
			return err
		}
		return a.show(changed, func(w io.Writer) {
			writef(w, "Saved %s, revision %d.\n", printable(changed.Name), changed.Revision)
		})
	}
	in.register(cmd.Flags())
	in.budget.register(cmd.Flags())
	in.registerChange(cmd.Flags())
	cmd.Flags().IntVar(&revision, "revision", 0, "save only if this is still the revision")
	return cmd
}

// patch changes an environment; a revision above 0 is the one it must have.
func patch(cmd *cobra.Command, c *client, id uuid.UUID, body map[string]any, revision int) (api.Environment, error) {
	r := request{method: http.MethodPatch, path: "/environments/" + id.String(), body: body}
	if revision > 0 {
		r.ifMatch = fmt.Sprintf(`"%d"`, revision)
	}
	var changed api.Environment
	r.into = &changed
	err := c.call(cmd.Context(), r)
	return changed, err
}

func (a *app) envStatusCommand(verb, status, short string) *cobra.Command {
	return &cobra.Command{
		Use:               verb + " ENVIRONMENT",
		Short:             short,
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
			changed, err := patch(cmd, c, e.ID, map[string]any{"status": status}, 0)
			if err != nil {
				return err
			}
			return a.show(changed, func(w io.Writer) {
				writef(w, "%s is %s.\n", printable(changed.Name), changed.Status)
			})
		},
	}
}

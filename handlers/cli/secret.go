package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"berth/environment"
	"berth/handlers/api"

	"github.com/spf13/cobra"
)

func (a *app) secretCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "secret", Aliases: []string{"secrets"}, Short: "A company's secrets, and the master key"}
	cmd.AddCommand(
		a.secretListCommand(), a.secretCreateCommand(), a.secretGetCommand(), a.secretRotateCommand(),
		a.secretStateCommand("disable", "Keep a secret from being opened", true),
		a.secretStateCommand("enable", "Let a secret be opened again", false),
		a.secretAccessesCommand(), a.secretDeleteCommand(), a.rotateKeyCommand(),
	)
	group(cmd)
	return cmd
}

func (a *app) secretListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the company's secrets", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := a.inCompany(cmd.Context(), "/secrets")
			if err != nil {
				return err
			}
			return each(a, cmd.Context(), path, func(w io.Writer, all []api.Secret) {
				if len(all) == 0 {
					writef(w, "No secrets.\n")
					return
				}
				t := newTable(w, "NAME", "VERSION", "STATE", "CHANGED", "ID")
				for _, s := range all {
					t.row(s.Name, fmt.Sprint(s.LatestVersion), secretState(s), a.when(&s.UpdatedAt, ""), s.ID.String())
				}
				t.flush()
			})
		},
	}
}

func secretState(s api.Secret) string {
	if s.Disabled {
		return "disabled"
	}
	return "active"
}

// valueFlag adds the one way in which a secret's value is given.
func valueFlag(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVar(into, "value-file", "", "`file` with the value, - for standard input; its last line end is not part of it")
	cmd.Flags().String("value", "", "refused: a secret never goes on a command line")
	if err := cmd.Flags().MarkHidden("value"); err != nil {
		panic(err)
	}
}

func (a *app) secretValue(cmd *cobra.Command, file string) (string, error) {
	if cmd.Flags().Changed("value") {
		return "", &usageError{"--value is refused: every user of this machine can read a command line; use --value-file FILE, or --value-file - for standard input"}
	}
	if file == "" {
		return "", &usageError{"--value-file is needed: a file with the value, or - for standard input"}
	}
	text, err := (&inputs{}).read(a, "value-file", file)
	return dropLineEnd(text), err
}

func (a *app) secretCreateCommand() *cobra.Command {
	var file, about string
	cmd := &cobra.Command{Use: "create NAME --value-file FILE", Short: "Store a secret of the company", Args: exactly("NAME")}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		value, err := a.secretValue(cmd, file)
		if err != nil {
			return err
		}
		path, err := a.inCompany(cmd.Context(), "/secrets")
		if err != nil {
			return err
		}
		body := api.NewSecret{Name: args[0], Value: value}
		if about != "" {
			body.Description = &about
		}
		return ask(a, cmd.Context(), post(path, body), func(w io.Writer, s api.Secret) {
			writef(w, "Stored %s (%s).\n", printable(s.Name), s.ID)
		})
	}
	valueFlag(cmd, &file)
	cmd.Flags().StringVar(&about, "description", "", "what it is for")
	return cmd
}

func (a *app) secretRotateCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{Use: "rotate SECRET --value-file FILE", Short: "Give a secret a new value, as a new version", Args: exactly("SECRET")}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		value, err := a.secretValue(cmd, file)
		if err != nil {
			return err
		}
		s, err := a.findSecret(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return ask(a, cmd.Context(), post("/secrets/"+s.ID.String()+"/rotate", api.RotateSecret{Value: value}), func(w io.Writer, s api.Secret) {
			writef(w, "%s is at version %d.\n", printable(s.Name), s.LatestVersion)
		})
	}
	valueFlag(cmd, &file)
	return cmd
}

func (a *app) secretGetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "get SECRET", Aliases: []string{"show"}, Short: "Show a secret's versions and uses, never its value", Args: exactly("SECRET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.findSecret(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return ask(a, cmd.Context(), get("/secrets/"+s.ID.String()), a.printSecret)
		},
	}
}

func (a *app) printSecret(w io.Writer, s api.Secret) {
	writef(w, "%s (%s), version %d, %s\n", printable(s.Name), s.ID, s.LatestVersion, secretState(s))
	t := newTable(w, "VERSION", "MADE", "BY")
	for _, v := range s.Versions {
		t.row(fmt.Sprint(v.Version), a.when(&v.CreatedAt, ""), v.CreatedBy)
	}
	t.flush()
	if len(s.Uses) == 0 {
		writef(w, "Nothing uses it.\n")
		return
	}
	t = newTable(w, "USED BY", "AT", "VERSION")
	for _, u := range s.Uses {
		t.row(u.EnvironmentName, u.ConfigPath, u.Version)
	}
	t.flush()
}

func (a *app) secretStateCommand(verb, short string, disabled bool) *cobra.Command {
	return &cobra.Command{
		Use: verb + " SECRET", Short: short, Args: exactly("SECRET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.findSecret(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			body := map[string]any{"disabled": disabled}
			return ask(a, cmd.Context(), change("/secrets/"+s.ID.String(), body), func(w io.Writer, s api.Secret) {
				writef(w, "%s is %s.\n", printable(s.Name), secretState(s))
			})
		},
	}
}

func (a *app) secretDeleteCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: "delete SECRET [--yes]", Aliases: []string{"rm"}, Short: "Delete a secret that nothing uses", Args: exactly("SECRET")}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.sure(yes, "Delete the secret "+printable(args[0])+"? Nobody can bring it back."); err != nil {
			return err
		}
		s, err := a.findSecret(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.tell(cmd.Context(), remove("/secrets/"+s.ID.String()), "Deleted "+printable(s.Name)+".")
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (a *app) secretAccessesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "accesses SECRET", Short: "Show who opened a secret, newest first", Args: exactly("SECRET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.findSecret(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return each(a, cmd.Context(), "/secrets/"+s.ID.String()+"/accesses", func(w io.Writer, all []api.SecretAccess) {
				t := newTable(w, "WHEN", "FOR", "BY", "AT", "VERSION", "OUTCOME")
				for _, x := range all {
					t.row(a.when(&x.At, ""), x.Purpose, x.ActorName, x.ConfigPath, fmt.Sprint(x.Version), x.Outcome)
				}
				t.flush()
			})
		},
	}
}

func (a *app) rotateKeyCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "rotate-key [--yes]", Short: "Turn the master key over: seal every stored secret again under a new key", Args: exactly(),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.sure(yes, "Seal every stored secret again? Back up the keyset file afterwards: the old one opens nothing then."); err != nil {
			return err
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		var done api.KeyRotation
		if err := c.wait(cmd.Context(), request{method: http.MethodPost, path: "/instance/rotate-key", body: struct{}{}, into: &done}); err != nil {
			return err
		}
		return a.show(done, func(w io.Writer) {
			writef(w, "Sealed %d values again. The keyset is %s now, it was %s. Back the file up anew.\n", done.Resealed, done.To, done.From)
		})
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// findSecret returns the secret of an id or, failing that, of a name in the
// company.
func (a *app) findSecret(ctx context.Context, idOrName string) (api.Secret, error) {
	c, err := a.client()
	if err != nil {
		return api.Secret{}, err
	}
	if id, err := environment.ParseID("secret", idOrName); err == nil {
		var s api.Secret
		err := c.call(ctx, request{method: http.MethodGet, path: "/secrets/" + id.String(), into: &s})
		return s, err
	}
	path, err := a.inCompany(ctx, "/secrets")
	if err != nil {
		return api.Secret{}, err
	}
	all, err := list[api.Secret](ctx, c, path, nil)
	if err != nil {
		return api.Secret{}, err
	}
	clean, _ := environment.CleanName(idOrName)
	for _, s := range all {
		if environment.NameKey(s.Name) == environment.NameKey(clean) {
			return s, nil
		}
	}
	return api.Secret{}, environment.NewError(environment.KindNotFound, "secret_not_found", "There is no secret called "+idOrName+" in this company.")
}

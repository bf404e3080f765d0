package cli

import (
	"context"
	"io"
	"net/http"
	"time"

	"berth/environment"
	"berth/handlers/api"

	"github.com/spf13/cobra"
)

func (a *app) agentCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "agent", Aliases: []string{"agents"}, Short: "Agents of a company and their keys"}
	cmd.AddCommand(
		a.agentListCommand(), a.agentCreateCommand(), a.agentGetCommand(),
		a.agentStatusCommand("enable", "Let an agent work again", environment.AgentActive),
		a.agentStatusCommand("disable", "Stop an agent: its keys count no more", environment.AgentDisabled),
		a.agentKeyCommand(),
	)
	group(cmd)
	return cmd
}

func (a *app) agentListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the agents of the company", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := a.inCompany(cmd.Context(), "/agents")
			if err != nil {
				return err
			}
			return each(a, cmd.Context(), path, func(w io.Writer, all []api.Agent) {
				if len(all) == 0 {
					writef(w, "No agents.\n")
					return
				}
				t := newTable(w, "NAME", "ADAPTER", "STATUS", "ID")
				for _, agent := range all {
					t.row(agent.Name, agent.AdapterType, a.paint(agent.Status), agent.ID.String())
				}
				t.flush()
			})
		},
	}
}

func (a *app) agentCreateCommand() *cobra.Command {
	var adapter, env string
	cmd := &cobra.Command{Use: "create NAME [--adapter TYPE] [--environment ENVIRONMENT]", Short: "Create an agent", Args: exactly("NAME")}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := a.inCompany(cmd.Context(), "/agents")
		if err != nil {
			return err
		}
		body := api.NewAgent{Name: args[0]}
		if adapter != "" {
			body.AdapterType = &adapter
		}
		if env != "" {
			c, err := a.client()
			if err != nil {
				return err
			}
			e, err := a.find(cmd.Context(), c, env)
			if err != nil {
				return err
			}
			body.DefaultEnvironmentID = &e.ID
		}
		return ask(a, cmd.Context(), post(path, body), func(w io.Writer, made api.Agent) {
			writef(w, "Created %s (%s).\n", printable(made.Name), made.ID)
		})
	}
	cmd.Flags().StringVar(&adapter, "adapter", "", "type of the agent's adapter (default process)")
	cmd.Flags().StringVar(&env, "environment", "", "environment that it works in by default, by name or id")
	return cmd
}

func (a *app) agentGetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "get AGENT", Aliases: []string{"show"}, Short: "Show an agent with its keys", Args: exactly("AGENT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			agent, err := a.findAgent(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return ask(a, cmd.Context(), get("/agents/"+agent.ID.String()), func(w io.Writer, agent api.Agent) {
				writef(w, "%s (%s), %s, %s\n", printable(agent.Name), agent.ID, printable(agent.AdapterType), agent.Status)
				a.printKeys(w, agent.Keys)
			})
		},
	}
}

func (a *app) agentStatusCommand(verb, short string, status environment.AgentStatus) *cobra.Command {
	return &cobra.Command{
		Use: verb + " AGENT", Short: short, Args: exactly("AGENT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			agent, err := a.findAgent(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			body := map[string]any{"status": status}
			return ask(a, cmd.Context(), change("/agents/"+agent.ID.String(), body), func(w io.Writer, agent api.Agent) {
				writef(w, "%s is %s.\n", printable(agent.Name), agent.Status)
			})
		},
	}
}

// findAgent returns the agent of an id or, failing that, of a name in the
// company.
func (a *app) findAgent(ctx context.Context, idOrName string) (api.Agent, error) {
	c, err := a.client()
	if err != nil {
		return api.Agent{}, err
	}
	if id, err := environment.ParseID("agent", idOrName); err == nil {
		var found api.Agent
		err := c.call(ctx, request{method: http.MethodGet, path: "/agents/" + id.String(), into: &found})
		return found, err
	}
	path, err := a.inCompany(ctx, "/agents")
	if err != nil {
		return api.Agent{}, err
	}
	all, err := list[api.Agent](ctx, c, path, nil)
	if err != nil {
		return api.Agent{}, err
	}
	clean, _ := environment.CleanName(idOrName)
	for _, agent := range all {
		if environment.NameKey(agent.Name) == environment.NameKey(clean) {
			return agent, nil
		}
	}
	return api.Agent{}, environment.NewError(environment.KindNotFound, "agent_not_found", "There is no agent called "+idOrName+" in this company.")
}

func (a *app) printKeys(w io.Writer, keys []api.Key) {
	if len(keys) == 0 {
		writef(w, "No keys.\n")
		return
	}
	t := newTable(w, "NAME", "ENDS IN", "LAST USED", "EXPIRES", "STATE", "ID")
	for _, k := range keys {
		t.row(k.Name, k.Hint, a.when(k.LastUsedAt, "never"), a.when(k.ExpiresAt, "never"), keyState(k, a.env.Now()), k.ID.String())
	}
	t.flush()
}

func keyState(k api.Key, now time.Time) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked"
	case k.ExpiresAt != nil && !now.Before(time.Time(*k.ExpiresAt)):
		return "expired"
	}
	return "active"
}

// when is how long ago a time was, or the time itself when it is to come.
func (a *app) when(t *api.Time, none string) string {
	if t == nil {
		return none
	}
	if at := time.Time(*t); at.After(a.env.Now()) {
		return at.UTC().Format(time.RFC3339)
	}
	return a.ago(time.Time(*t))
}

func lifeDays(days int) *int {
	if days == 0 {
		return nil
	}
	return &days
}

// shown prints a text that is shown once: alone on standard output, so that it
// can go into a file, with the words about it on standard error.
func (a *app) shown(made api.MadeKey) error {
	return a.show(made, func(w io.Writer) {
		a.say("%s (%s). This is the only time that its text is shown:", printable(made.Name), made.ID)
		writef(w, "%s\n", made.Token)
	})
}

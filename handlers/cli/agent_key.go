package cli

import (
	"net/http"

	"berth/handlers/api"

	"github.com/spf13/cobra"
)

func (a *app) agentKeyCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "key", Aliases: []string{"keys"}, Short: "Keys of an agent: create, revoke"}
	cmd.AddCommand(a.agentKeyCreateCommand(), a.agentKeyRevokeCommand())
	group(cmd)
	return cmd
}

func (a *app) agentKeyCreateCommand() *cobra.Command {
	var name string
	var life int
	cmd := &cobra.Command{
		Use: "create AGENT [--name NAME] [--days N]", Short: "Make a key; its text is shown once", Args: exactly("AGENT"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		agent, err := a.findAgent(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.makeKey(cmd, "/agents/"+agent.ID.String()+"/keys", api.NewKey{Name: name, LifeDays: lifeDays(life)})
	}
	cmd.Flags().StringVar(&name, "name", "key", "name, to know it by")
	cmd.Flags().IntVar(&life, "days", 0, "days until it expires; 0 for never")
	return cmd
}

// makeKey asks for a key and shows its text.
func (a *app) makeKey(cmd *cobra.Command, path string, body api.NewKey) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	var made api.MadeKey
	if err := c.call(cmd.Context(), request{method: http.MethodPost, path: path, body: body, into: &made}); err != nil {
		return err
	}
	return a.shown(made)
}

func (a *app) agentKeyRevokeCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "revoke AGENT KEY [--yes]", Short: "Revoke a key: it counts no more, at once", Args: exactly("AGENT", "KEY"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.sure(yes, "Revoke the key "+printable(args[1])+"?"); err != nil {
			return err
		}
		agent, err := a.findAgent(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.tell(cmd.Context(), remove("/agents/"+agent.ID.String()+"/keys/"+args[1]), "The key counts no more.")
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

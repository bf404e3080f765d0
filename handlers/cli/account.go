package cli

import (
	"io"

	"berth/handlers/api"

	"github.com/spf13/cobra"
)

func (a *app) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "token", Aliases: []string{"tokens"}, Short: "Your own personal tokens: list, create, revoke"}
	var name string
	var life int
	create := &cobra.Command{Use: "create [--name NAME] [--days N]", Short: "Make a token; its text is shown once", Args: exactly()}
	create.RunE = func(cmd *cobra.Command, _ []string) error {
		return a.makeKey(cmd, "/account/tokens", api.NewKey{Name: name, LifeDays: lifeDays(life)})
	}
	create.Flags().StringVar(&name, "name", "token", "name, to know it by")
	create.Flags().IntVar(&life, "days", 0, "days until it expires; 0 for never")
	list := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List your tokens", Args: exactly()}
	list.RunE = func(cmd *cobra.Command, _ []string) error {
		return ask(a, cmd.Context(), get("/account"), func(w io.Writer, mine api.Account) { a.printKeys(w, mine.Tokens) })
	}
	var yes bool
	revoke := &cobra.Command{Use: "revoke TOKEN-ID [--yes]", Short: "Revoke a token: it counts no more, at once", Args: exactly("TOKEN-ID")}
	revoke.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.sure(yes, "Revoke the token "+printable(args[0])+"?"); err != nil {
			return err
		}
		return a.tell(cmd.Context(), remove("/account/tokens/"+args[0]), "The token counts no more.")
	}
	revoke.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.AddCommand(list, create, revoke)
	group(cmd)
	return cmd
}

package cli

import (
	"fmt"
	"io"
	"net/http"
	"strconv"

	"berth/environment"
	"berth/handlers/api"

	"github.com/spf13/cobra"
)

func (a *app) envPinImageCommand() *cobra.Command {
	var revision int
	cmd := &cobra.Command{
		Use:   "pin-image ENVIRONMENT [--revision REVISION]",
		Short: "Save the digest that the last test read for the image's tag",
		Long: `Saves the digest that the last test of this configuration read for the image's
tag, so that every sandbox is made from the same content. Test the environment
again afterwards: only then its platform can be recorded.`,
		Args:              exactly("ENVIRONMENT"),
		ValidArgsFunction: a.completeEnvironments,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := a.client()
		if err != nil {
			return err
		}
		e, err := a.find(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		var pinned api.Environment
		r := request{method: http.MethodPost, path: "/environments/" + e.ID.String() + "/pin-image", into: &pinned}
		if revision > 0 {
			r.ifMatch = fmt.Sprintf(`"%d"`, revision)
		}
		if err := c.call(cmd.Context(), r); err != nil {
			return err
		}
		return a.show(pinned, func(w io.Writer) {
			writef(w, "%s is made from %s, revision %d.\n", printable(pinned.Name), printable(address(pinned)), pinned.Revision)
			writef(w, "Next: berth env probe %q.\n", pinned.Name)
		})
	}
	cmd.Flags().IntVar(&revision, "revision", 0, "save only if this is still the revision")
	return cmd
}

// usage is what of an environment's budget is used, beside the budget.
type usage struct {
	EnvironmentID string      `json:"environmentId"`
	Budget        *api.Budget `json:"budget"`
	api.Usage
}

func (a *app) envUsageCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "usage ENVIRONMENT",
		Short:             "Show an environment's budget and what of it is used today",
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
			u := usage{EnvironmentID: e.ID.String(), Budget: e.Budget}
			if err := c.call(cmd.Context(), request{method: http.MethodGet, path: "/environments/" + e.ID.String() + "/usage", into: &u.Usage}); err != nil {
				return err
			}
			return a.show(u, func(w io.Writer) { printUsage(w, u) })
		},
	}
}

func printUsage(w io.Writer, u usage) {
	var b api.Budget
	if u.Budget != nil {
		b = *u.Budget
	}
	if b.AccountLabel != "" {
		writef(w, "Account: %s\n", printable(b.AccountLabel))
	}
	t := newTable(w, "WHAT", "USED", "LIMIT")
	t.row("leases at once", strconv.Itoa(u.ActiveLeases), limitText(b.MaxLeases))
	t.row("lease minutes today (UTC)", strconv.FormatFloat(u.LeaseMinutesToday, 'f', 1, 64), limitText(b.LeaseMinutesPerDay))
	t.flush()
	if b.Note != "" {
		writef(w, "%s\n", printable(b.Note))
	}
	if why := environment.Budget(b).Exhausted(environment.Usage{ActiveLeases: u.ActiveLeases, MinutesToday: u.LeaseMinutesToday}); why != "" {
		writef(w, "The budget is used up: %s.\n", why)
	}
}

func limitText(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

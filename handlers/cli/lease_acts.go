package cli

import (
	"context"
	"net/http"

	"berth/handlers/api"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

func (a *app) leaseReleaseCommand() *cobra.Command {
	return a.oneLease("release", "Give a lease back, and clean up behind it", leaseAct("release"))
}

func (a *app) leaseRetryCommand() *cobra.Command {
	return a.oneLease("retry-cleanup", "Try the clean-up of a lease at once", leaseAct("retry-cleanup"))
}

func (a *app) leaseDestroyCommand() *cobra.Command {
	var yes bool
	cmd := a.oneLease("destroy", "End what a lease holds, kept or not: what is in it is gone", leaseAct("destroy"))
	destroy := cmd.RunE
	cmd.Use += " [--yes]"
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.sure(yes, "Destroy what the lease "+printable(args[0])+" holds? What is in it is gone."); err != nil {
			return err
		}
		return destroy(cmd, args)
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// leaseAct asks for something that is done with a lease and waits for the
// provider's word on it.
func leaseAct(verb string) func(context.Context, *client, uuid.UUID) (api.Lease, error) {
	return func(ctx context.Context, c *client, id uuid.UUID) (api.Lease, error) {
		var l api.Lease
		err := c.wait(ctx, request{method: http.MethodPost, path: "/environment-leases/" + id.String() + "/" + verb, into: &l})
		return l, err
	}
}

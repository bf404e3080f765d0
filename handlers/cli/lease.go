package cli

import (
	"io"
	"net/http"
	"net/url"
	"time"

	"berth/environment"
	"berth/handlers/api"

	"github.com/spf13/cobra"
)

func (a *app) leaseCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "lease", Aliases: []string{"leases"}, Short: "Leases: get, release"}
	cmd.AddCommand(
		a.leaseOneCommand("get", "Show a lease", http.MethodGet, ""),
		a.leaseOneCommand("release", "Give a lease back", http.MethodPost, "/release"),
	)
	group(cmd)
	return cmd
}

func (a *app) leaseOneCommand(verb, short, method, suffix string) *cobra.Command {
	return &cobra.Command{
		Use:   verb + " LEASE",
		Short: short,
		Args:  exactly("LEASE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := environment.ParseID("lease", args[0])
			if err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			var l api.Lease
			if err := c.call(cmd.Context(), request{method: method, path: "/environment-leases/" + id.String() + suffix, into: &l}); err != nil {
				return err
			}
			return a.show(l, func(w io.Writer) { a.printLeases(w, []api.Lease{l}) })
		},
	}
}

func (a *app) envLeasesCommand() *cobra.Command {
	var status string
	cmd := &cobra.Command{
		Use:               "leases ENVIRONMENT",
		Short:             "Show the leases of an environment, newest use first",
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
		query := url.Values{}
		if status != "" {
			query.Set("status", status)
		}
		all, err := list[api.Lease](cmd.Context(), c, "/environments/"+e.ID.String()+"/leases", query)
		if err != nil {
			return err
		}
		return a.show(all, func(w io.Writer) { a.printLeases(w, all) })
	}
	cmd.Flags().StringVar(&status, "status", "", "only this status")
	return cmd
}

func (a *app) printLeases(w io.Writer, all []api.Lease) {
	if len(all) == 0 {
		writef(w, "No leases.\n")
		return
	}
	t := newTable(w, "ID", "STATUS", "FOR", "TARGET", "LAST USED", "NOTE")
	for _, l := range all {
		target, note := l.Provider, ""
		if l.ProviderLeaseID != nil {
			target = *l.ProviderLeaseID
		}
		if l.FailureReason != nil {
			note = *l.FailureReason
		}
		t.row(l.ID.String(), a.paint(l.Status), l.OwnerKind, target, a.ago(time.Time(l.LastUsedAt)), note)
	}
	t.flush()
}

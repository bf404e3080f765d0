package cli

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

func (a *app) leaseCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "lease", Aliases: []string{"leases"}, Short: "Leases: list, get, release, destroy, retry-cleanup"}
	cmd.AddCommand(a.leaseListCommand(), a.leaseGetCommand(), a.leaseReleaseCommand(), a.leaseDestroyCommand(), a.leaseRetryCommand())
	group(cmd)
	return cmd
}

func (a *app) leaseListCommand() *cobra.Command {
	var env, status, owner string
	var held, dead bool
	var limit int
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "Show leases, of deleted environments too, newest use first",
		Args:    exactly(),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if limit < 1 || limit > 1000 {
			return &usageError{"--limit is a number from 1 to 1000"}
		}
		c, err := a.client()
		if err != nil {
			return err
		}
		query := url.Values{"limit": {strconv.Itoa(limit)}}
		if env != "" {
			e, err := a.find(cmd.Context(), c, env)
			if err != nil {
				return err
			}
			query.Set("environmentId", e.ID.String())
		}
		if a.flags.company != "" {
			company, err := a.companyID(cmd.Context(), c)
			if err != nil {
				return err
			}
			query.Set("companyId", company.String())
		}
		for name, value := range map[string]string{"status": status, "ownerKind": owner} {
			if value != "" {
				query.Set(name, value)
			}
		}
		for name, yes := range map[string]bool{"held": held, "dead": dead} {
			if yes {
				query.Set(name, "1")
			}
		}
		all, err := list[api.Lease](cmd.Context(), c, "/environment-leases", query)
		if err != nil {
			return err
		}
		return a.show(all, func(w io.Writer) { a.printLeases(w, all) })
	}
	f := cmd.Flags()
	f.StringVar(&env, "env", "", "only this environment")
	f.StringVar(&status, "status", "", "only this status")
	f.StringVar(&owner, "owner", "", "only those for this: run, probe, setup_session, operator, task")
	f.BoolVar(&held, "held", false, "only those that hold something, or may")
	f.BoolVar(&dead, "dead", false, "only those whose clean-up waits for an operator")
	f.IntVar(&limit, "limit", 50, "at most this many")
	return cmd
}

func (a *app) leaseGetCommand() *cobra.Command {
	return a.oneLease("get", "Show a lease", func(ctx context.Context, c *client, id uuid.UUID) (api.Lease, error) {
		var l api.Lease
		err := c.call(ctx, request{method: "GET", path: "/environment-leases/" + id.String(), into: &l})
		return l, err
	})
}

// oneLease makes a command that shows one lease, when do has read or changed it.
func (a *app) oneLease(use, short string, do func(context.Context, *client, uuid.UUID) (api.Lease, error)) *cobra.Command {
	return &cobra.Command{
		Use:   use + " LEASE",
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
			l, err := do(cmd.Context(), c, id)
			if err != nil {
				return err
			}
			return a.show(l, func(w io.Writer) { a.printLease(w, l) })
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
	t := newTable(w, "ID", "STATUS", "FOR", "ENVIRONMENT", "TARGET", "LAST USED", "NOTE")
	for _, l := range all {
		t.row(l.ID.String(), a.paint(l.Status), l.OwnerKind, l.EnvironmentName, shortID(leaseTarget(l)), a.ago(time.Time(l.LastUsedAt)), leaseNote(l))
	}
	t.flush()
}

// leaseTarget is the provider's own id of what is leased, as far as one may know.
func leaseTarget(l api.Lease) string {
	if l.ProviderLeaseID != nil {
		return *l.ProviderLeaseID
	}
	return l.Provider
}

var hexID = regexp.MustCompile(`^[0-9a-f]{64}$`)

// shortID is a container's id as engines show it in lists; another one as it is.
func shortID(id string) string {
	if hexID.MatchString(id) {
		return id[:12]
	}
	return id
}

// leaseNote is what people should know of a lease beside its status.
func leaseNote(l api.Lease) string {
	switch {
	case l.DeadLetterAt != nil:
		return fmt.Sprintf("waits for an operator after %d tries: %s", l.CleanupAttempts, textOf(l.CleanupError))
	case l.CleanupAttempts > 0 && l.Status == string(environment.LeasePendingCleanup):
		return fmt.Sprintf("try %d failed: %s", l.CleanupAttempts, textOf(l.CleanupError))
	}
	return textOf(l.FailureReason)
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func (a *app) printLease(w io.Writer, l api.Lease) {
	t := newTable(w, "ID", l.ID.String())
	t.row("STATUS", a.paint(l.Status))
	if note := leaseNote(l); note != "" {
		t.row("NOTE", note)
	}
	t.row("FOR", l.OwnerKind)
	if l.RunID != nil {
		t.row("RUN", l.RunID.String())
	}
	t.row("ENVIRONMENT", l.EnvironmentName)
	t.row("PROVIDER", l.Provider)
	t.row("TARGET", leaseTarget(l))
	t.row("POLICY", l.LeasePolicy)
	if l.Acquisition != nil {
		t.row("ACQUISITION", *l.Acquisition+" "+textOf(l.AcquisitionReason))
	}
	t.row("ACQUIRED", time.Time(l.AcquiredAt).UTC().Format(time.RFC3339))
	t.row("LAST USED", a.ago(time.Time(l.LastUsedAt)))
	if l.ExpiresAt != nil && l.ReleasedAt == nil {
		t.row("EXPIRES", time.Time(*l.ExpiresAt).UTC().Format(time.RFC3339))
	}
	if l.CleanupNextAt != nil {
		t.row("NEXT TRY", time.Time(*l.CleanupNextAt).UTC().Format(time.RFC3339))
	}
	if l.CleanupStatus != nil {
		t.row("CLEAN-UP", *l.CleanupStatus)
	}
	t.flush()
}

package leasing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"berth/environment"
	"berth/environment/access"
	"berth/environment/crew"

	"github.com/google/uuid"
)

// Words of Lease.CleanupStatus.
const (
	cleanupPending = "pending"
	cleanupSuccess = "success"
	cleanupFailed  = "failed"
)

// interrupted is why a lease ended whose server died.
const interrupted = "interrupted"

// Finish releases a lease after its work: status releasing, the driver's
// Release with a deadline outside any transaction, then outcome (released,
// failed, expired) with the receipt; pending_cleanup when the driver failed,
// which is not an error: the sweep goes on with it. A lease that has ended
// already is returned as it is.
func (s *Service) Finish(ctx context.Context, id uuid.UUID, spec environment.Spec, outcome environment.LeaseStatus, reason string) (environment.Lease, error) {
	return s.finish(ctx, environment.System(), id, spec, outcome, reason)
}

func (s *Service) finish(ctx context.Context, actor environment.Actor, id uuid.UUID, spec environment.Spec, outcome environment.LeaseStatus, reason string) (environment.Lease, error) {
	var entry environment.Activity
	lease, err := s.update(ctx, id, func(l *environment.Lease) error {
		entry = environment.Activity{}
		switch l.Status {
		case environment.LeaseAcquiring: // the driver never said that it made something
			s.end(l, environment.LeaseFailed, cmp.Or(reason, interrupted))
			entry = s.ended(ctx, actor, "environment.lease_failed", *l)
		case environment.LeaseActive, environment.LeaseRetained:
			l.Status = environment.LeaseReleasing
			plan := cleanup{Outcome: outcome}
			l.Metadata = plan.into(l.Metadata)
			if reason != "" {
				l.FailureReason = &reason
			}
		}
		if !l.Status.Ended() {
			l.Owner, l.LastUsedAt = s.owner, s.now()
		}
		return nil
	}, &entry)
	if err != nil || lease.Status.Ended() {
		return lease, err
	}
	return s.letGo(ctx, actor, lease, spec)
}

// letGo asks the driver to release what a lease in releasing or pending_cleanup
// holds, and stores what came of it.
func (s *Service) letGo(ctx context.Context, actor environment.Actor, lease environment.Lease, spec environment.Spec) (environment.Lease, error) {
	ref, err := s.Ref(lease, spec)
	var receipt environment.Receipt
	var entry environment.Activity
	if err == nil {
		receipt, err = s.callRelease(ctx, ref, dispositionOf(lease.Driver))
	}
	if err != nil {
		s.log.Warn("release a lease", "lease", lease.ID, "driver", lease.Driver, "err", err)
		return s.update(ctx, lease.ID, func(l *environment.Lease) error {
			s.postpone(l, environment.CodeOf(err))
			entry = s.postponed(ctx, actor, *l)
			return nil
		}, &entry)
	}
	return s.update(ctx, lease.ID, func(l *environment.Lease) error {
		if entry = (environment.Activity{}); l.Status.Ended() {
			return nil // somebody else came first
		}
		plan := cleanupOf(l.Metadata)
		s.end(l, plan.outcome(), "")
		l.Metadata = cleanup{}.into(l.Metadata)
		success := cleanupSuccess
		l.CleanupStatus = &success
		entry = s.ended(ctx, actor, releasedOr(*l, actor), *l)
		if plan.Attempts > 0 {
			entry.Details["failedAttempts"] = plan.Attempts
		}
		l.Receipt, err = json.Marshal(receipt)
		return err
	}, &entry)
}

// callRelease is the driver's part.
func (s *Service) callRelease(ctx context.Context, ref environment.Ref, d environment.Disposition) (environment.Receipt, error) {
	driver, ok := s.drivers.Driver(ref.Key())
	if !ok {
		return environment.Receipt{}, environment.NotInstalled(ref.Key())
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), ReleaseLimit)
	defer cancel()
	// A server that stops does not wait for a slow target: the next one will.
	defer context.AfterFunc(ctx, cancel)()
	receipt, err := crew.Call(limited, patience, func() (environment.Receipt, error) { return driver.Release(limited, ref, d) })
	if err != nil && limited.Err() != nil && !errors.Is(ctx.Err(), context.Canceled) && environment.KindOf(err) == environment.KindInternal {
		err = environment.NewError(environment.KindTimeout, environment.CodeTimedOut, "The target did not confirm the release.").Because(err)
	}
	if receipt.At.IsZero() {
		receipt.At = s.now()
	}
	return receipt, err
}

// end closes a lease's row.
func (s *Service) end(l *environment.Lease, outcome environment.LeaseStatus, reason string) {
	now := s.now()
	l.Status, l.ReleasedAt, l.LastUsedAt = outcome, &now, now
	if reason != "" {
		l.FailureReason = &reason
	}
}

// dispositionOf is what a release leaves behind: a host of somebody's own is
// left as it is, what was made for the lease goes.
func dispositionOf(driver string) environment.Disposition {
	if environment.BorrowedHost(driver) {
		return environment.Keep
	}
	return environment.Destroy
}

// Release is an operator's release of a lease. A lease whose run is under way
// is KindConflict with code lease_in_use; one that has ended is returned as it
// is; one that waits for clean-up is tried at once.
func (s *Service) Release(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Lease, error) {
	if err := access.May(actor, access.ManageLeases, access.Instance); err != nil {
		return environment.Lease{}, err
	}
	lease, err := s.store.Lease(ctx, id)
	if err != nil || lease.Status.Ended() {
		return lease, err
	}
	if lease.RunID != nil {
		run, err := s.store.Run(ctx, *lease.RunID)
		if err != nil && environment.KindOf(err) != environment.KindNotFound {
			return environment.Lease{}, err
		}
		if err == nil && !run.Status.Ended() {
			return environment.Lease{}, environment.Conflict("lease_in_use", "A run is using this lease.").
				Remedy("Cancel the run, or wait until it ends.").With("runId", run.ID.String())
		}
	}
	// The release goes on when the one who asked hangs up.
	return s.finish(context.WithoutCancel(ctx), actor, id, environment.Spec{}, environment.LeaseReleased, "")
}

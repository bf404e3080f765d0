package leasing

import (
	"context"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

const reasonDestroyed = "destroyed_by_operator"

// Release is an operator's release of a lease, by its policy; one that is kept is
// destroyed. A lease whose holder is at work is KindConflict with code
// lease_in_use; one that has ended is returned as it is; one that waits for
// clean-up is tried at once. It goes on when ctx ends.
func (s *Service) Release(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Lease, error) {
	return s.operate(ctx, actor, id, ending{outcome: environment.LeaseReleased, shelf: true})
}

// Destroy is an operator's end of what a lease holds, kept or not. A lease whose
// holder is at work is KindConflict with code lease_in_use; one that has ended is
// returned as it is. It goes on when ctx ends.
func (s *Service) Destroy(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Lease, error) {
	return s.operate(ctx, actor, id, ending{outcome: environment.LeaseExpired, reason: reasonDestroyed, destroy: true, shelf: true})
}

func (s *Service) operate(ctx context.Context, actor environment.Actor, id uuid.UUID, e ending) (environment.Lease, error) {
	if err := access.May(actor, access.ManageLeases, access.Instance); err != nil {
		return environment.Lease{}, err
	}
	lease, err := s.store.Lease(ctx, id)
	if err != nil || lease.Status.Ended() {
		return lease, err
	}
	if err := s.unused(ctx, lease); err != nil {
		return environment.Lease{}, err
	}
	return s.finish(context.WithoutCancel(ctx), actor, id, environment.Spec{}, e)
}

// unused is KindConflict with code lease_in_use while a run, a probe or whatever else
// says that it is there is at work with a lease.
func (s *Service) unused(ctx context.Context, lease environment.Lease) error {
	if lease.RunID != nil {
		run, err := s.store.Run(ctx, *lease.RunID)
		if err != nil && environment.KindOf(err) != environment.KindNotFound {
			return err
		}
		if err == nil && !run.Status.Ended() {
			return environment.Conflict(environment.CodeLeaseInUse, "A run is using this lease.").
				Remedy("Cancel the run, or wait until it ends.").With("runId", run.ID.String())
		}
	}
	held := lease.Status == environment.LeaseAcquiring || lease.Status == environment.LeaseActive
	beaten := s.now().Sub(lease.HeartbeatAt) < environment.LeaseTTL
	switch {
	case !held || !beaten || lease.RunID != nil || lease.OwnerKind == environment.OwnerOperator:
		return nil
	case lease.OwnerKind == environment.OwnerProbe:
		return environment.Conflict(environment.CodeLeaseInUse, "A test is using this lease.").
			Remedy("Cancel the test, or wait until it ends.")
	}
	return environment.Conflict(environment.CodeLeaseInUse, "This lease is in use.").Remedy("End what uses it, or wait until it ends.")
}

// RetryCleanup tries the clean-up of a lease at once, also of one that waits for an
// operator; KindConflict with code lease_state_changed when it does not wait for
// clean-up. It goes on when ctx ends.
func (s *Service) RetryCleanup(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Lease, error) {
	if err := access.May(actor, access.ManageLeases, access.Instance); err != nil {
		return environment.Lease{}, err
	}
	ctx = context.WithoutCancel(ctx)
	var entry environment.Activity
	var mine bool
	var c claim
	lease, err := s.store.UpdateLease(ctx, id, func(l *environment.Lease) error {
		entry, mine = environment.Activity{}, false
		if l.Status.Ended() {
			return nil
		}
		if l.Status != environment.LeasePendingCleanup {
			return environment.Conflict("lease_state_changed", "The lease does not wait for clean-up: it is "+string(l.Status)+".")
		}
		adopt(l)
		l.CleanupAttempts, l.DeadLetterAt, l.CleanupNextAt, l.CleanupStatus = 0, nil, new(s.now()), new(cleanupPending)
		if mine = s.free(*l); mine {
			c = s.claim(l)
		}
		entry = s.ended(ctx, actor, "environment.lease_cleanup_retried", *l)
		return nil
	}, &entry)
	if err != nil || !mine {
		return lease, err
	}
	return s.letGo(ctx, actor, lease, environment.Spec{}, c)
}

// Usage is what of an environment's budget is used, for whoever may read
// environments: they are refused when it is used up.
func (s *Service) Usage(ctx context.Context, actor environment.Actor, environmentID uuid.UUID) (environment.Usage, error) {
	if err := access.May(actor, access.ReadEnvironments, access.Instance); err != nil {
		return environment.Usage{}, err
	}
	return s.store.Usage(ctx, environmentID)
}

package leasing

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"berth/environment"
	"berth/environment/crew"
)

// undo ends an acquisition whose driver failed: what it may have made is released
// by its label, and where that cannot be known to be all, the row waits for it.
func (s *Service) undo(ctx context.Context, lease environment.Lease, spec environment.Spec, cause error, nothing bool) (environment.Lease, environment.Ref, error) {
	if lease.Borrowed() || nothing {
		return s.failed(ctx, lease, cause), environment.Ref{}, told(lease, cause)
	}
	if undone, ok := errors.AsType[*environment.Undone](cause); ok && undone.Receipt.ProviderID != "" &&
		confirm(lease, environment.Ref{}, environment.Destroy, undone.Receipt) == nil {
		return s.failedClean(ctx, lease, cause, undone.Receipt), environment.Ref{}, told(lease, cause)
	}
	next := environment.Lease{}
	if ctx.Err() == nil {
		ref, err := refOf(lease)
		var receipt environment.Receipt
		if err == nil {
			ref.Spec = spec
			receipt, err = s.callRelease(ctx, ref, environment.Destroy, ReleaseLimit)
		}
		if err == nil {
			err = confirm(lease, ref, environment.Destroy, receipt)
		}
		switch {
		case err == nil && (receipt.Outcome == outcomeDestroyed || definite(cause)):
			return s.failedClean(ctx, lease, cause, receipt), environment.Ref{}, told(lease, cause)
		case err == nil: // what was asked for may still come
			lease.HeartbeatAt = s.now().Add(-BeatEvery) // the question has just ended
			next.CleanupNextAt = new(s.settled(lease, ref))
		default:
			s.log.Warn("release what a failed acquisition may have made", "lease", lease.ID, "driver", lease.Driver, "err", err)
			s.count(&next, lease.ID, environment.CodeOf(err))
		}
	}
	return s.queued(ctx, lease, next, cause), environment.Ref{}, unknown(ctx, cause)
}

const (
	// settleSlack is how far the clocks of servers and engines may be apart, and what
	// an engine needs to finish what it was asked for in the last moment.
	settleSlack = 15 * time.Second
	// comesLate is how long an engine may still be at what it was asked for by who has
	// gone: an ask whose connection is closed is given up or done, but not at once.
	comesLate = 25 * time.Second
)

// settled is when nothing is expected any more of what was asked for a lease: some
// time after who asked has gone, which was a beat after its last one at the latest,
// and in any case when the time to start was over. A server that lives but cannot
// reach the database, and an engine that is stopped with the question in its hands,
// may take longer. What comes then is of a lease that has ended, and the comparison
// of rows with what the provider holds removes it.
func (s *Service) settled(l environment.Lease, ref environment.Ref) time.Time {
	limit := environment.DefaultStartupBudget
	if driver, ok := s.drivers.Driver(ref.Key()); ok {
		limit = budgetOf(driver, ref.Config)
	}
	over, left := l.CreatedAt.Add(limit+settleSlack), l.HeartbeatAt.Add(BeatEvery+comesLate)
	if left.Before(over) {
		return left
	}
	return over
}

// definite reports whether an error says that nothing will come of what was asked
// for. That nobody answered says nothing.
func definite(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	switch environment.CodeOf(err) {
	case environment.CodeImageNotFound, environment.CodeImageDenied, environment.CodeImageDigestMismatch, environment.CodeImageDeleted,
		environment.CodeRegistryUnreachable,
		environment.CodeCreateFailed, environment.CodeStartFailed, environment.CodeEngineDenied, environment.CodeEngineTooOld:
		return true
	}
	return !crew.Transient(err)
}

// queued makes a row wait for the clean-up of what may have been made.
func (s *Service) queued(ctx context.Context, lease, plan environment.Lease, cause error) environment.Lease {
	reason := reasonOf(ctx, lease, cause)
	var entry environment.Activity
	waiting, err := s.update(ctx, lease.ID, func(l *environment.Lease) error {
		if entry = (environment.Activity{}); l.Status != environment.LeaseAcquiring {
			return nil
		}
		s.enqueue(l, environment.LeaseFailed, reason)
		if plan.CleanupNextAt != nil {
			l.CleanupNextAt, l.CleanupAttempts, l.CleanupError = plan.CleanupNextAt, plan.CleanupAttempts, plan.CleanupError
		}
		entry = s.ended(ctx, environment.System(), "environment.lease_failed", *l)
		return nil
	}, &entry)
	if err != nil {
		s.log.Warn("queue the clean-up of a failed acquisition", "lease", lease.ID, "err", err)
		s.strand(lease.ID, ending{outcome: environment.LeaseFailed, reason: reason})
		return lease
	}
	s.poke()
	return waiting
}

// unstored ends an acquisition whose row could not be made active. What nobody
// else holds is given back.
func (s *Service) unstored(ctx context.Context, lease environment.Lease, ref environment.Ref, cause error) environment.Lease {
	switch {
	case lease.Borrowed():
		s.giveBack(ctx, ref)
		return s.failed(ctx, lease, cause)
	case environment.CodeOf(cause) == environment.CodeLeaseInUse:
		// The driver gave what another lease holds. That is not touched, only what
		// may have been made beside it.
		ended, _, _ := s.undo(ctx, lease, ref.Spec, cause, false)
		return ended
	case errors.Is(cause, errTaken):
		return lease
	case !crew.Transient(cause): // the row is not this acquisition's any more
		s.giveBack(ctx, ref)
		return lease
	}
	s.strand(lease.ID, ending{outcome: environment.LeaseFailed, reason: reasonOf(ctx, lease, cause)})
	return lease
}

// giveBack releases what a driver made for a row that is not there any more.
func (s *Service) giveBack(ctx context.Context, ref environment.Ref) {
	if _, err := s.callRelease(ctx, ref, dispositionOf(ref.Driver), ReleaseLimit); err != nil {
		s.log.Error("give back what no lease holds", "driver", ref.Driver, "provider_id", ref.ProviderID, "err", err)
	}
}

// failed ends a lease of which nothing came. Where the row cannot be written
// before ctx ends, the sweep does it.
func (s *Service) failed(ctx context.Context, lease environment.Lease, cause error) environment.Lease {
	return s.failedWith(ctx, lease, cause, nil)
}

// failedClean is failed, of what was released again.
func (s *Service) failedClean(ctx context.Context, lease environment.Lease, cause error, receipt environment.Receipt) environment.Lease {
	return s.failedWith(ctx, lease, cause, &receipt)
}

func (s *Service) failedWith(ctx context.Context, lease environment.Lease, cause error, receipt *environment.Receipt) environment.Lease {
	reason := reasonOf(ctx, lease, cause)
	var entry environment.Activity
	ended, err := s.update(ctx, lease.ID, func(l *environment.Lease) (err error) {
		if entry = (environment.Activity{}); l.Status != environment.LeaseAcquiring {
			return nil
		}
		s.end(l, environment.LeaseFailed, reason)
		if receipt != nil {
			l.CleanupStatus = new(cleanupSuccess)
			l.Receipt, err = json.Marshal(receipt)
		}
		entry = s.ended(ctx, environment.System(), "environment.lease_failed", *l)
		return err
	}, &entry)
	if err != nil {
		s.log.Warn("end a lease that failed", "lease", lease.ID, "err", err)
		s.strand(lease.ID, ending{outcome: environment.LeaseFailed, reason: reason})
		return lease
	}
	return ended
}

// reasonOf is why an acquisition failed, for its row.
func reasonOf(ctx context.Context, lease environment.Lease, cause error) string {
	if errors.Is(cause, context.Canceled) || ctx.Err() != nil {
		return reasonCancelled
	}
	return codeOf(lease, cause)
}

// codeOf is an error's code; a sandbox's without one of its own has that of
// failed acquisitions.
func codeOf(lease environment.Lease, cause error) string {
	code := environment.CodeOf(cause)
	if code == "internal" && !lease.Borrowed() {
		return environment.CodeLeaseAcquireFailed
	}
	return code
}

// told is an error as the caller of Acquire gets it.
func told(lease environment.Lease, cause error) error {
	if lease.Borrowed() || environment.CodeOf(cause) != "internal" || errors.Is(cause, context.Canceled) {
		return cause
	}
	return environment.NewError(environment.KindUnavailable, environment.CodeLeaseAcquireFailed, "The sandbox could not be acquired.").Because(cause)
}

// unknown is an error of an acquisition that may have made something.
func unknown(ctx context.Context, cause error) error {
	e := *environment.AsError(cause)
	switch {
	case ctx.Err() != nil || errors.Is(cause, context.Canceled):
		e = *environment.NewError(e.Kind, e.Code, "The acquisition was cancelled.").Because(cause)
	case e.Code == "internal":
		e = *environment.NewError(environment.KindUnavailable, environment.CodeLeaseAcquireFailed, "The sandbox could not be acquired.").Because(cause)
	}
	e.Message += " Unknown outcome, being cleaned up: a sandbox may have been made, and is removed."
	return e.With("cleanup", "queued")
}

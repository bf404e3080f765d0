package leasing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"berth/environment"
	"berth/environment/crew"

	"github.com/google/uuid"
)

// Why leases end, beside the codes of drivers.
const (
	reasonInterrupted = "interrupted" // its server died
	reasonCancelled   = "cancelled"
	reasonExpired     = "lease_expired" // nobody said any more that it is in use, or its time was over
	reasonWork        = "adapter_or_run_failure"
	reasonCleanup     = "release_cleanup_failed"
)

// Words of Receipt.Outcome.
const (
	outcomeDestroyed = "destroyed"
	outcomeStopped   = "stopped"
	outcomeGone      = "gone"
)

// Finish releases a lease after its work: status releasing, the driver's Release
// with a deadline outside any transaction, then outcome (released, failed, expired)
// with the receipt, or retained where the policy keeps the sandbox; pending_cleanup
// when the driver failed or gave no receipt that is worth anything, which is not an
// error: the queue goes on with it. A lease that has ended already or is kept, and
// one that somebody is releasing, is returned as it is.
func (s *Service) Finish(ctx context.Context, id uuid.UUID, spec environment.Spec, outcome environment.LeaseStatus, reason string) (environment.Lease, error) {
	return s.finish(ctx, environment.System(), id, spec, ending{outcome: outcome, reason: reason})
}

// ending is how a lease is to end.
type ending struct {
	outcome environment.LeaseStatus
	reason  string
	destroy bool // whatever its policy says
	shelf   bool // also what is kept
}

func (s *Service) finish(ctx context.Context, actor environment.Actor, id uuid.UUID, spec environment.Spec, e ending) (environment.Lease, error) {
	s.LetGo(id)
	var entry environment.Activity
	var mine bool
	var c claim
	lease, err := s.update(ctx, id, func(l *environment.Lease) error {
		entry, mine = environment.Activity{}, false
		adopt(l)
		switch {
		case l.Status.Ended(), l.Status == environment.LeaseRetained && !e.shelf:
			return nil
		case c.has(*l):
			mine = true // by a try whose answer was lost
			return nil
		case !s.free(*l):
			return nil
		case l.Status == environment.LeaseAcquiring: // the driver never said that it made something
			reason := cmp.Or(e.reason, reasonInterrupted)
			if l.Borrowed() {
				s.end(l, environment.LeaseFailed, reason)
				entry = s.ended(ctx, actor, "environment.lease_failed", *l)
				return nil
			}
			s.enqueue(l, environment.LeaseFailed, reason)
			entry = s.ended(ctx, actor, "environment.lease_failed", *l)
		case l.Status == environment.LeaseActive, l.Status == environment.LeaseRetained:
			s.beginRelease(l, e.outcome, e.reason, e.destroy)
		case e.destroy && l.CleanupOutcome == environment.LeaseRetained:
			l.CleanupOutcome = meant(*l)
		}
		mine = true
		c = s.claim(l)
		return nil
	}, &entry)
	if err != nil && crew.Transient(err) {
		s.strand(id, e)
	}
	if err != nil || !mine {
		return lease, err
	}
	return s.letGo(ctx, actor, lease, spec, c)
}

// beginRelease takes a lease from its holder, or from the shelf, and says what is
// to become of it.
func (s *Service) beginRelease(l *environment.Lease, outcome environment.LeaseStatus, reason string, destroy bool) {
	wasActive := l.Status == environment.LeaseActive
	l.Status, l.CleanupOutcome, l.LastUsedAt, l.Owner = environment.LeaseReleasing, outcome, s.now(), s.owner
	if reason != "" {
		l.FailureReason = &reason
	}
	if l.Borrowed() || destroy || !wasActive {
		return
	}
	ref, _ := refOf(*l) // what cannot be read keeps nothing
	rules := environment.LeaseRulesOf(ref.Config)
	rules.Policy = l.Policy
	sound := !slices.Contains(unsound, reason)
	keep, retain := rules.Next(outcome, sound)
	if !keep {
		return
	}
	if l.CleanupOutcome = environment.LeaseRetained; !rules.Policy.Reuses() || !sound {
		l.ScopeKey = nil // to be looked at, not to be used again
		l.RetainSec = int(retain.Seconds())
	}
	if outcome == environment.LeaseFailed && l.FailureReason == nil {
		l.FailureReason = new(reasonWork)
	}
}

// unsound are the reasons after which a sandbox is not picked up again.
var unsound = []string{environment.CodeSandboxGone, environment.CodeSandboxMismatch, environment.CodeTerminationUnproven, reasonResumeMismatch}

// letGo asks the driver to release what a lease in releasing or pending_cleanup
// holds, and stores what came of it.
func (s *Service) letGo(ctx context.Context, actor environment.Actor, lease environment.Lease, spec environment.Spec, c claim) (environment.Lease, error) {
	ref, receipt, err := s.release(ctx, lease, spec, c)
	if err != nil {
		return s.notYet(ctx, actor, lease, c, err)
	}
	var entry environment.Activity
	return s.update(ctx, lease.ID, func(l *environment.Lease) error {
		if entry = (environment.Activity{}); l.Status != environment.LeaseReleasing && l.Status != environment.LeasePendingCleanup {
			return nil // somebody else came first
		}
		if l.CleanupOutcome == environment.LeaseRetained && !l.Borrowed() && !c.has(*l) {
			return nil // the database was away for so long that somebody else is at it, who would stop what the next holder has
		}
		adopt(l)
		if ref.ProviderID == "" && !l.Borrowed() && receipt.Outcome == outcomeGone && s.now().Before(s.settled(*l, ref)) {
			l.CleanupNextAt, l.CleanupClaimUntil = new(s.settled(*l, ref)), nil // it may still come
			return nil
		}
		entry = s.conclude(ctx, actor, l, receipt)
		var err error
		l.Receipt, err = json.Marshal(receipt)
		return err
	}, &entry)
}

// conclude ends a lease of which nothing is left, or puts it on the shelf.
func (s *Service) conclude(ctx context.Context, actor environment.Actor, l *environment.Lease, receipt environment.Receipt) environment.Activity {
	failed := l.CleanupAttempts
	action := ""
	if l.CleanupOutcome == environment.LeaseRetained && receipt.Outcome == outcomeStopped {
		cleaned(l)
		l.Status, l.LastUsedAt, l.CleanupOutcome, l.CleanupStatus = environment.LeaseRetained, s.now(), "", nil
		if l.FailureReason != nil && *l.FailureReason == reasonCleanup {
			l.FailureReason = nil
		}
		action = "environment.lease_retained"
	} else {
		s.end(l, meant(*l), "")
		cleaned(l)
		action = releasedOr(*l, actor)
	}
	entry := s.ended(ctx, actor, action, *l)
	if failed > 0 {
		entry.Details["failedAttempts"] = failed
	}
	return entry
}

// notYet stores that a release did not go through.
func (s *Service) notYet(ctx context.Context, actor environment.Actor, lease environment.Lease, c claim, cause error) (environment.Lease, error) {
	missing := errors.Is(cause, errMissing)
	stopped := (ctx.Err() != nil || errors.Is(cause, errTooLate)) && !lease.Borrowed()
	if !missing {
		s.log.Warn("release a lease", "lease", lease.ID, "driver", lease.Driver, "err", cause)
	}
	var entry environment.Activity
	after, err := s.update(ctx, lease.ID, func(l *environment.Lease) error {
		if entry = (environment.Activity{}); l.Status != environment.LeaseReleasing && l.Status != environment.LeasePendingCleanup {
			return nil
		}
		if !lease.Borrowed() && !c.has(*l) {
			return nil // noted before, or somebody else is at it by now
		}
		adopt(l)
		switch {
		case missing:
			s.deferUntilInstalled(l)
		case stopped: // it was broken off, which says nothing of the target
			l.CleanupClaimUntil = new(s.now().Add(patience))
		default:
			s.postpone(l, environment.CodeOf(cause))
			entry = s.postponed(ctx, actor, *l)
		}
		return nil
	}, &entry)
	if err != nil && crew.Transient(err) || after.Status == environment.LeaseReleasing {
		s.strand(lease.ID, ending{outcome: meant(lease)})
	}
	return after, err
}

// release is the driver's part, with what it needs for it.
func (s *Service) release(ctx context.Context, lease environment.Lease, spec environment.Spec, c claim) (environment.Ref, environment.Receipt, error) {
	ref, err := refOf(lease)
	if err != nil {
		return ref, environment.Receipt{}, err
	}
	if _, ok := s.drivers.Driver(ref.Key()); !ok && !lease.Borrowed() {
		return ref, environment.Receipt{}, errMissing
	}
	if spec.Driver == "" && !lease.Borrowed() {
		if spec, err = s.cleanupSpec(ctx, lease, ref); err != nil {
			return ref, environment.Receipt{}, err
		}
	}
	ref.Spec = spec
	how := dispositionOf(lease.Driver)
	if lease.CleanupOutcome == environment.LeaseRetained {
		how = environment.StopAndRetain
	}
	limit := ReleaseLimit
	if !lease.Borrowed() {
		if limit = c.left(s.now()); limit <= 0 {
			return ref, environment.Receipt{}, errTooLate
		}
	}
	receipt, err := s.callRelease(ctx, ref, how, limit)
	if err == nil {
		err = confirm(lease, ref, how, receipt)
	}
	return ref, receipt, err
}

var (
	errMissing = errors.New("its driver is not installed")
	errTooLate = errors.New("the time of the claim is over")
)

// confirm judges a receipt: it is worth something when it is of what the lease
// holds and says that nothing goes on there.
func confirm(lease environment.Lease, ref environment.Ref, how environment.Disposition, receipt environment.Receipt) error {
	if lease.Borrowed() {
		return nil
	}
	said := receipt.Outcome == outcomeDestroyed || receipt.Outcome == outcomeGone || receipt.Outcome == outcomeStopped && how == environment.StopAndRetain
	same := ref.ProviderID == "" || receipt.ProviderID == ref.ProviderID || receipt.Outcome == outcomeGone && receipt.ProviderID == ""
	if said && same {
		return nil
	}
	return environment.Unavailable(environment.CodeCleanupUnconfirmed, "The provider did not confirm that the sandbox is gone.")
}

// callRelease asks the driver, with a deadline.
func (s *Service) callRelease(ctx context.Context, ref environment.Ref, d environment.Disposition, limit time.Duration) (environment.Receipt, error) {
	driver, ok := s.drivers.Driver(ref.Key())
	if !ok {
		return environment.Receipt{}, environment.NotInstalled(ref.Key())
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
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

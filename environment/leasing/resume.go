package leasing

import (
	"context"
	"fmt"
	"time"

	"berth/environment"
	"berth/environment/crew"

	"github.com/cenkalti/backoff/v5"
)

// Reasons of what became of a kept sandbox.
const (
	reasonResumeGone     = "resume_not_found"
	reasonResumeMismatch = "identity_mismatch"
	reasonFingerprint    = "lease_fingerprint_mismatch"
)

// pickUp resumes what is kept for a lease's scope. It returns no Ref, and no
// error, when there is nothing or the driver proved that it is gone or another:
// then it is to be made anew, and the lease says why. A resume that fails in any other way ends
// the lease as failed, and leaves what is kept as it is.
func (s *Service) pickUp(ctx, limited context.Context, driver environment.Driver, lease *environment.Lease, spec environment.Spec) (environment.Lease, environment.Ref, error) {
	kept, err := s.choose(ctx, *lease)
	if err == nil && kept != nil {
		_, err = s.update(ctx, lease.ID, func(l *environment.Lease) error { l.Resumes = &kept.ID; return nil }, nil)
	}
	if err != nil {
		return s.failed(ctx, *lease, err), environment.Ref{}, fmt.Errorf("look for a kept sandbox: %w", err)
	}
	if kept == nil {
		return environment.Lease{}, environment.Ref{}, nil
	}
	lease.Resumes = &kept.ID
	ref, err := s.resume(ctx, limited, driver, *kept, spec)
	switch code := environment.CodeOf(err); code {
	case "":
		lease.Acquisition = new(environment.AcquisitionResumed)
		active, err := s.handOver(ctx, driver, *lease, *kept, ref)
		return active, ref, err
	case environment.CodeSandboxGone, environment.CodeSandboxMismatch:
		reason := reasonResumeGone
		if code == environment.CodeSandboxMismatch {
			reason = reasonResumeMismatch
		}
		lease.Acquisition, lease.AcquisitionReason = new(environment.AcquisitionReplacement), &reason
		if err := s.forget(ctx, *kept, reason); err != nil {
			return s.failed(ctx, *lease, err), environment.Ref{}, fmt.Errorf("give up a sandbox that is gone: %w", err)
		}
		return environment.Lease{}, environment.Ref{}, nil
	}
	s.log.Warn("resume a sandbox", "lease", lease.ID, "resumes", kept.ID, "driver", lease.Driver, "err", err)
	if ctx.Err() != nil {
		return s.failed(ctx, *lease, err), environment.Ref{}, err
	}
	refusal := environment.AsError(told(*lease, err)).With("resumes", kept.ID.String())
	refusal.Message += " The sandbox that was kept stays as it is, and the next run tries it again."
	return s.failed(ctx, *lease, err), environment.Ref{}, refusal
}

// choose returns what a lease resumes, nil for nothing, and sends what is kept of
// another configuration to be destroyed. The lease's row is there: nobody else of
// its scope is at it.
func (s *Service) choose(ctx context.Context, lease environment.Lease) (*environment.Lease, error) {
	var all []environment.Lease
	err := crew.Retry(ctx, crew.Transient, func(ctx context.Context) (err error) {
		all, err = s.store.Retained(ctx, Scope{EnvironmentID: *lease.EnvironmentID, CompanyID: lease.CompanyID, AgentID: lease.AgentID, WorkspaceID: lease.WorkspaceID})
		return err
	})
	if err != nil {
		return nil, err
	}
	var kept *environment.Lease
	for i, l := range all {
		switch {
		case l.ScopeKey == nil: // kept to be looked at
		case *l.ScopeKey == *lease.ScopeKey:
			if kept == nil && l.ProviderID != nil {
				kept = &all[i]
			}
		case same(l.AdapterType, lease.AdapterType):
			s.retire(ctx, l, reasonFingerprint)
		}
	}
	return kept, nil
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// retire queues what is kept to be destroyed, unless somebody picks it up at this
// moment: a scope has one lease that is acquiring or releasing.
func (s *Service) retire(ctx context.Context, kept environment.Lease, reason string) {
	_, err := s.store.UpdateLease(ctx, kept.ID, func(l *environment.Lease) error {
		if l.Status == environment.LeaseRetained {
			s.beginRelease(l, environment.LeaseExpired, reason, true)
		}
		return nil
	}, nil)
	if err == nil {
		_, err = s.store.UpdateLease(ctx, kept.ID, func(l *environment.Lease) error {
			if l.Status == environment.LeaseReleasing {
				s.enqueue(l, environment.LeaseExpired, reason)
			}
			return nil
		}, nil)
	}
	if err != nil {
		s.strand(kept.ID, ending{outcome: environment.LeaseExpired, reason: reason, destroy: true}) // it may be half on its way
		s.log.Warn("retire a kept sandbox", "lease", kept.ID, "reason", reason, "err", err)
		return
	}
	s.poke()
}

// resume asks the driver again and again until it can tell, or the time of the
// acquisition is over.
func (s *Service) resume(ctx, limited context.Context, driver environment.Driver, kept environment.Lease, spec environment.Spec) (environment.Ref, error) {
	resumer, ok := driver.(environment.Resumer)
	old, err := refOf(kept)
	if !ok || err != nil {
		return old, environment.NewError(environment.KindUnsupported, environment.CodeLeaseAcquireFailed, "The driver cannot resume what it kept.").Because(err)
	}
	old.Spec = spec
	pauses := backoff.NewExponentialBackOff() // with jitter
	pauses.InitialInterval, pauses.MaxInterval = resumePause, resumePauseMax
	var last error // the driver's, which says more than that the time is over
	ref, err := backoff.Retry(limited, func() (environment.Ref, error) {
		var ref environment.Ref
		ref, last = crew.Call(limited, patience, func() (environment.Ref, error) { return resumer.Resume(limited, old, spec) })
		if last != nil && !crew.Transient(last) {
			return ref, backoff.Permanent(last)
		}
		return ref, last
	}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(0))
	if err != nil {
		return ref, late(ctx, limited, last)
	}
	if ref.ProviderID != "" && ref.ProviderID != old.ProviderID {
		return ref, environment.NewError(environment.KindInternal, environment.CodeLeaseAcquireFailed, "The driver resumed another sandbox than it was asked for.")
	}
	ref.ProviderID = old.ProviderID
	spec.IdempotencyKey = old.LeaseKey
	ref = complete(ref, spec)
	return ref, nil
}

// Pauses between tries to resume.
const (
	resumePause    = 500 * time.Millisecond
	resumePauseMax = 15 * time.Second
)

// handOver makes the new lease hold what the kept one held. While it is not known
// that it did, nobody touches the sandbox: it is one or the other's.
func (s *Service) handOver(ctx context.Context, driver environment.Driver, lease, kept environment.Lease, ref environment.Ref) (environment.Lease, error) {
	change, err := s.holding(driver, lease, ref)
	if err != nil {
		return s.failed(ctx, lease, err), err
	}
	entry := s.activity(ctx, environment.System(), lease, "environment.lease_acquired")
	entry.Details["acquisition"], entry.Details["resumes"] = *lease.Acquisition, kept.ID.String()
	var active environment.Lease
	tried := false
	err = crew.Retry(ctx, crew.Transient, func(ctx context.Context) (err error) {
		if tried {
			l, err := s.store.Lease(ctx, lease.ID)
			if err != nil {
				return err
			}
			if active = l; l.Status == environment.LeaseActive && l.Owner == s.owner {
				return nil
			}
		}
		tried = true
		active, err = s.store.HandOver(ctx, kept.ID, lease.ID, change, &entry)
		return err
	})
	switch {
	case err == nil:
		return active, nil
	case crew.Transient(err): // whether it went through is not known: if it did, what was kept is kept again
		s.strand(lease.ID, ending{outcome: environment.LeaseReleased})
		return lease, fmt.Errorf("store the lease: %w", err)
	}
	return s.failed(ctx, lease, err), fmt.Errorf("store the lease: %w", err)
}

// forget ends the row of a kept sandbox that the provider does not have any more.
// One that is there, and is not what the lease held, is queued to be destroyed: a
// row ends when nothing is left.
func (s *Service) forget(ctx context.Context, kept environment.Lease, reason string) error {
	var entry environment.Activity
	_, err := s.update(ctx, kept.ID, func(l *environment.Lease) error {
		if entry = (environment.Activity{}); l.Status != environment.LeaseRetained {
			return nil // somebody else came first
		}
		if reason == reasonResumeMismatch {
			s.enqueue(l, environment.LeaseExpired, reason)
			return nil
		}
		s.end(l, environment.LeaseExpired, reason)
		l.CleanupStatus = new(cleanupSuccess)
		entry = s.ended(ctx, environment.System(), "environment.lease_released", *l)
		return nil
	}, &entry)
	s.poke()
	return err
}

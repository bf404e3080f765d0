package leasing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"berth/environment"
	"berth/environment/crew"

	"github.com/google/uuid"
)

// Request is what a lease is wanted for.
type Request struct {
	CompanyID     uuid.UUID
	EnvironmentID uuid.UUID
	RunID         *uuid.UUID
	OwnerKind     string // "run"
	Spec          environment.Spec

	EnvironmentName string
	AgentID         *uuid.UUID
	WorkspaceID     *uuid.UUID
	AdapterType     *string
	// Fresh allocates anew whatever the policy: nothing is resumed and nothing
	// published for reuse.
	Fresh bool
	// Fingerprint is Fingerprints.Reuse of the environment.
	Fingerprint string
	// Expires is when the lease ends even if it is beaten for; nil: never.
	Expires *time.Time
}

// Acquire writes the intent row, asks the driver, and stores what it got. The
// returned Ref has its Spec. When the driver fails the row ends failed with the
// driver's code as its reason, and the driver's error is returned.
func (s *Service) Acquire(ctx context.Context, r Request) (environment.Lease, environment.Ref, error) {
	lease := s.intent(r)
	if err := s.create(ctx, lease); err != nil {
		return environment.Lease{}, environment.Ref{}, fmt.Errorf("write the lease: %w", err)
	}
	r.Spec.CompanyID, r.Spec.RunID, r.Spec.IdempotencyKey = &r.CompanyID, r.RunID, lease.ID.String()
	ref, err := s.ask(ctx, r.Spec)
	if err != nil {
		return s.failed(ctx, lease, err), environment.Ref{}, err
	}
	active, err := s.activate(ctx, lease, ref)
	if environment.CodeOf(err) == "lease_not_found" && s.create(ctx, lease) == nil {
		// A crash of the database took the row back, which for a borrowed host it may.
		active, err = s.activate(ctx, lease, ref)
	}
	if err != nil {
		s.giveBack(ctx, ref)
		return s.failed(ctx, lease, err), environment.Ref{}, fmt.Errorf("store the lease: %w", err)
	}
	return active, ref, nil
}

func (s *Service) intent(r Request) environment.Lease {
	now := s.now()
	return environment.Lease{
		ID: environment.NewID(), CompanyID: r.CompanyID, EnvironmentID: &r.EnvironmentID, RunID: r.RunID,
		OwnerKind: r.OwnerKind, Status: environment.LeaseAcquiring, Policy: environment.PolicyEphemeral, TTLSec: int(environment.LeaseTTL.Seconds()), RetainSec: int(environment.RetainedFor.Seconds()),
		Driver: r.Spec.Driver, Provider: r.Spec.Driver, AcquiredAt: now, LastUsedAt: now,
		Owner: s.owner, CreatedAt: now, UpdatedAt: now,
	}
}

// create inserts the row; a second try first looks whether the first one got
// through without its answer coming back.
func (s *Service) create(ctx context.Context, lease environment.Lease) error {
	tried := false
	return crew.Retry(ctx, crew.Transient, func(ctx context.Context) error {
		if tried {
			if _, err := s.store.Lease(ctx, lease.ID); err == nil {
				return nil
			}
		}
		tried = true
		return s.store.CreateLease(ctx, lease)
	})
}

// ask is the driver's part, with a deadline and without a transaction.
func (s *Service) ask(ctx context.Context, spec environment.Spec) (environment.Ref, error) {
	driver, ok := s.drivers.Driver(spec.Key())
	if !ok {
		return environment.Ref{}, environment.NotInstalled(spec.Key())
	}
	limited, cancel := context.WithTimeoutCause(ctx, AcquireLimit, errLate)
	defer cancel()
	ref, err := crew.Call(limited, patience, func() (environment.Ref, error) { return driver.Acquire(limited, spec) })
	if err != nil {
		if ctx.Err() == nil && limited.Err() != nil && environment.KindOf(err) == environment.KindInternal {
			err = errLate.Because(err)
		}
		return environment.Ref{}, err
	}
	if ref.Driver == "" {
		ref.Driver = spec.Driver
	}
	if len(ref.Config) == 0 {
		ref.Config = spec.Config
	}
	ref.Spec = spec
	return ref, nil
}

var errLate = environment.NewError(environment.KindTimeout, environment.CodeTimedOut,
	"The target was not ready within "+AcquireLimit.String()+".").Remedy(environment.Remedy(environment.CodeConnectTimeout))

func (s *Service) activate(ctx context.Context, lease environment.Lease, ref environment.Ref) (environment.Lease, error) {
	stored, err := json.Marshal(ref)
	if err != nil {
		return lease, err
	}
	entry := s.activity(ctx, environment.System(), lease, "environment.lease_acquired")
	return s.update(ctx, lease.ID, func(l *environment.Lease) error {
		now := s.now()
		l.Status, l.Ref, l.Provider = environment.LeaseActive, stored, cmp.Or(ref.Provider, ref.Driver)
		l.AcquiredAt, l.LastUsedAt = now, now
		if ref.ProviderID != "" {
			l.ProviderID = &ref.ProviderID
		}
		return nil
	}, &entry)
}

// failed ends a lease of which nothing came. Where the row cannot be written
// before ctx ends, the sweep does it.
func (s *Service) failed(ctx context.Context, lease environment.Lease, cause error) environment.Lease {
	reason := environment.CodeOf(cause)
	if errors.Is(cause, context.Canceled) || ctx.Err() != nil {
		reason = "cancelled"
	}
	var entry environment.Activity
	ended, err := s.update(ctx, lease.ID, func(l *environment.Lease) error {
		if entry = (environment.Activity{}); l.Status.Ended() {
			return nil
		}
		s.end(l, environment.LeaseFailed, reason)
		entry = s.ended(ctx, environment.System(), "environment.lease_failed", *l)
		return nil
	}, &entry)
	if err != nil {
		s.log.Warn("end a lease that failed", "lease", lease.ID, "err", err)
		s.strand(lease.ID, reason)
		return lease
	}
	return ended
}

// giveBack releases what a driver made for a row that is not there any more.
func (s *Service) giveBack(ctx context.Context, ref environment.Ref) {
	if _, err := s.callRelease(ctx, ref, dispositionOf(ref.Driver)); err != nil {
		s.log.Error("give back what no lease holds", "driver", ref.Driver, "provider_id", ref.ProviderID, "err", err)
	}
}

// Ref loads the Ref of a lease for work that goes on after a restart.
// KindConflict with code lease_not_ready when nothing was acquired yet.
func (s *Service) Ref(l environment.Lease, spec environment.Spec) (environment.Ref, error) {
	var ref environment.Ref
	if len(l.Ref) == 0 || string(l.Ref) == "null" {
		return ref, environment.Conflict("lease_not_ready", "The lease holds nothing yet.")
	}
	if err := json.Unmarshal(l.Ref, &ref); err != nil {
		return ref, fmt.Errorf("read what lease %s holds: %w", l.ID, err)
	}
	ref.Spec = spec
	return ref, nil
}

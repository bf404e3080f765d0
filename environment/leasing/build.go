package leasing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"berth/environment"
	"berth/environment/crew"
)

// build has the driver make what a lease is for, and makes the row active.
func (s *Service) build(ctx, limited context.Context, driver environment.Driver, lease environment.Lease, spec environment.Spec) (environment.Lease, environment.Ref, error) {
	watch := &stageWatch{tell: spec.Report}
	asked := spec
	asked.Report = watch.note
	ref, err := crew.Call(limited, patience, func() (environment.Ref, error) { return driver.Acquire(limited, asked) })
	if err == nil && ref.ProviderID == "" && !lease.Borrowed() {
		err = environment.NewError(environment.KindInternal, environment.CodeLeaseAcquireFailed, "The driver did not say what it made.")
	}
	if err != nil {
		return s.undo(ctx, lease, spec, late(ctx, limited, err), watch.madeNothing())
	}
	ref = complete(ref, spec)
	if lease.Acquisition == nil {
		lease.Acquisition = new(environment.AcquisitionCreated)
	}
	active, err := s.activate(ctx, driver, lease, ref)
	if environment.CodeOf(err) == "lease_not_found" && s.create(ctx, lease) == nil {
		// A crash of the database took the row back, which for a borrowed host it may.
		active, err = s.activate(ctx, driver, lease, ref)
	}
	if err != nil {
		return s.unstored(ctx, lease, ref, err), environment.Ref{}, fmt.Errorf("store the lease: %w", err)
	}
	return active, ref, nil
}

// late is a driver's error, or that the time was over where that is all it says.
func late(ctx, limited context.Context, err error) error {
	limit, ok := errors.AsType[*environment.Error](context.Cause(limited))
	if ok && ctx.Err() == nil && environment.KindOf(err) == environment.KindInternal {
		return limit.Because(err)
	}
	return err
}

// complete fills in what a driver may leave out of a Ref.
func complete(ref environment.Ref, spec environment.Spec) environment.Ref {
	key := spec.Key()
	ref.Driver = cmp.Or(ref.Driver, key.Driver)
	ref.Provider = cmp.Or(ref.Provider, key.Provider)
	if len(ref.Config) == 0 {
		ref.Config = spec.Config
	}
	if !environment.BorrowedHost(ref.Driver) {
		ref.LeaseKey = cmp.Or(ref.LeaseKey, spec.IdempotencyKey)
		ref.InstanceID = spec.InstanceID
	}
	ref.Spec = spec
	return ref
}

// activate makes the row hold what the driver gave, unless it is not the server's
// any more, or somebody else holds that.
func (s *Service) activate(ctx context.Context, driver environment.Driver, lease environment.Lease, ref environment.Ref) (environment.Lease, error) {
	change, err := s.holding(driver, lease, ref)
	if err != nil {
		return lease, err
	}
	entry := s.activity(ctx, environment.System(), lease, "environment.lease_acquired")
	if !lease.Borrowed() {
		entry.Details["acquisition"] = *lease.Acquisition
	}
	return s.update(ctx, lease.ID, change, &entry)
}

// holding is the change by which a row becomes active with what a Ref names.
func (s *Service) holding(driver environment.Driver, lease environment.Lease, ref environment.Ref) (func(*environment.Lease) error, error) {
	stored, err := json.Marshal(ref)
	if err != nil {
		return nil, fmt.Errorf("write down what lease %s holds: %w", lease.ID, err)
	}
	object := objectKey(driver, ref)
	return func(l *environment.Lease) error {
		if l.Status != environment.LeaseAcquiring && l.ProviderID != nil && *l.ProviderID == ref.ProviderID {
			// It went through before, and the answer was lost.
			if l.Status == environment.LeaseActive && l.Owner == s.owner {
				return nil
			}
			return errTaken
		}
		if l.Owner != s.owner {
			return environment.LeaseStateChanged(l.Status, environment.LeaseActive) // it was taken over
		}
		now := s.now()
		l.Status, l.Ref, l.Provider = environment.LeaseActive, stored, cmp.Or(ref.Provider, ref.Driver)
		l.AcquiredAt, l.LastUsedAt = now, now
		if ref.ProviderID != "" {
			l.ProviderID = &ref.ProviderID
		}
		if !l.Borrowed() {
			l.ObjectKey, l.Acquisition, l.AcquisitionReason = object, lease.Acquisition, lease.AcquisitionReason
		}
		return nil
	}, nil
}

// errTaken is that a row was made active and has been taken from its acquisition
// since: what it holds is its own affair.
var errTaken = environment.Conflict("lease_state_changed", "The lease was ended while it was acquired.")

// stageWatch notes how far a driver says that it came.
type stageWatch struct {
	tell func(environment.Stage)

	mu   sync.Mutex
	last environment.Stage
}

func (w *stageWatch) note(stage environment.Stage) {
	w.mu.Lock()
	w.last = stage
	w.mu.Unlock()
	if w.tell != nil {
		w.tell(stage)
	}
}

// madeNothing reports whether the driver said that it failed before it made
// anything.
func (w *stageWatch) madeNothing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last.Status == environment.StageFailed && (w.last.Name == "engine" || w.last.Name == "image")
}

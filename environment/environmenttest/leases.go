package environmenttest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"berth/environment"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

// span is how long a lease was in use, by the store's clock.
type span struct {
	from  time.Time
	until *time.Time // nil: it is
}

func copyLease(l environment.Lease) environment.Lease {
	l.Ref, l.Receipt, l.Metadata = orNull(l.Ref), orNull(l.Receipt), orNull(l.Metadata)
	return l
}

// CreateLease implements leasing.Store.
func (s *Store) CreateLease(_ context.Context, l environment.Lease) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.company(l.CompanyID); err != nil {
		return err
	}
	if l.EnvironmentID != nil {
		e, ok := s.environments[*l.EnvironmentID]
		if !ok {
			return environment.NotFound("environment")
		}
		if e.Budget != nil {
			if refusal := e.Budget.Refusal(s.usage(e.ID)); refusal != nil {
				return refusal
			}
		}
	}
	now := s.now()
	l.CreatedAt, l.UpdatedAt = s.orNow(l.CreatedAt), s.orNow(l.UpdatedAt)
	l.AcquiredAt, l.LastUsedAt = s.orNow(l.AcquiredAt), s.orNow(l.LastUsedAt)
	l.TTLSec, l.RetainSec = cmp.Or(l.TTLSec, int(environment.LeaseTTL.Seconds())), cmp.Or(l.RetainSec, int(environment.RetainedFor.Seconds()))
	used := span{from: now}
	if !l.Status.InUse() {
		used.until = &now
	}
	return s.putLease(l, used)
}

// putLease stores a lease and what goes by the store's clock; it refuses a second
// holder.
func (s *Store) putLease(l environment.Lease, used span) error {
	now := s.now()
	if !l.Status.InUse() && used.until == nil {
		used.until = &now // for good: what is picked up again is so by another lease
	}
	switch l.Status {
	case environment.LeaseAcquiring, environment.LeaseActive:
		until := now.Add(time.Duration(l.TTLSec) * time.Second)
		l.HeartbeatAt, l.ExpiresAt = now, &until
	case environment.LeaseRetained:
		until := used.until.Add(time.Duration(l.RetainSec) * time.Second)
		l.ExpiresAt = &until
	}
	for id, other := range s.leases {
		if id != l.ID && holdSame(l, other) {
			return environment.LeaseInUse()
		}
	}
	s.leases[l.ID], s.used[l.ID] = copyLease(l), used
	return nil
}

// holdSame tells of two leases whether they cannot be at the same time.
func holdSame(a, b environment.Lease) bool {
	uses := func(l environment.Lease) bool { return l.Status.InUse() }
	holds := func(l environment.Lease) bool { return l.Status.InUse() && l.Status != environment.LeaseAcquiring }
	resumes := func(l environment.Lease) bool { return l.Status == environment.LeaseAcquiring }
	return uses(a) && uses(b) && equal(a.ScopeKey, b.ScopeKey) || holds(a) && holds(b) && equal(a.ObjectKey, b.ObjectKey) ||
		resumes(a) && resumes(b) && equal(a.Resumes, b.Resumes)
}

// equal reports whether two values are there and the same.
func equal[T comparable](a, b *T) bool { return a != nil && b != nil && *a == *b }

// UpdateLease implements leasing.Store.
func (s *Store) UpdateLease(_ context.Context, id uuid.UUID, change func(*environment.Lease) error, a *environment.Activity) (environment.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, ok := s.leases[id]
	if !ok {
		return environment.Lease{}, environment.NotFound("lease")
	}
	next := copyLease(before)
	if change != nil {
		if err := change(&next); err != nil {
			return environment.Lease{}, err
		}
	}
	if next.Status != before.Status && !before.Status.CanBecome(next.Status) {
		return environment.Lease{}, environment.LeaseStateChanged(before.Status, next.Status)
	}
	next.ID, next.UpdatedAt = before.ID, s.now()
	if err := s.putLease(next, s.used[id]); err != nil {
		return environment.Lease{}, err
	}
	if a != nil {
		s.record(*a)
	}
	return copyLease(s.leases[id]), nil
}

// HandOver implements leasing.Store.
func (s *Store) HandOver(_ context.Context, from, to uuid.UUID, change func(*environment.Lease) error, a *environment.Activity) (environment.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, ok := s.leases[from]
	taker, has := s.leases[to]
	if !ok || !has {
		return environment.Lease{}, environment.NotFound("lease")
	}
	if kept.Status != environment.LeaseRetained {
		return environment.Lease{}, environment.LeaseStateChanged(kept.Status, environment.LeaseReleased)
	}
	if taker.Status != environment.LeaseAcquiring {
		return environment.Lease{}, environment.LeaseStateChanged(taker.Status, environment.LeaseActive)
	}
	next := copyLease(taker)
	if err := change(&next); err != nil {
		return environment.Lease{}, err
	}
	if next.Status != environment.LeaseActive {
		return environment.Lease{}, environment.LeaseStateChanged(taker.Status, next.Status)
	}
	now := s.now()
	next.ID, next.UpdatedAt = to, now
	if err := s.putLease(next, s.used[to]); err != nil {
		return environment.Lease{}, err
	}
	kept.Status, kept.ReleasedAt, kept.CleanupStatus, kept.UpdatedAt = environment.LeaseReleased, &now, nil, now
	s.leases[from] = kept
	if a != nil {
		s.record(*a)
	}
	return copyLease(s.leases[to]), nil
}

// Lease implements leasing.Store and running.Store.
func (s *Store) Lease(_ context.Context, id uuid.UUID) (environment.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.leases[id]
	if !ok {
		return environment.Lease{}, environment.NotFound("lease")
	}
	return copyLease(l), nil
}

// Leases implements leasing.Store.
func (s *Store) Leases(_ context.Context, f leasing.Filter) (environment.Page[environment.Lease], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []environment.Lease{}
	for _, l := range s.leases {
		if wantedLease(l, f) {
			found = append(found, copyLease(l))
		}
	}
	slices.SortFunc(found, newestUse)
	return page(found, f.Limit, f.Cursor)
}

func wantedLease(l environment.Lease, f leasing.Filter) bool {
	return (f.CompanyID == nil || l.CompanyID == *f.CompanyID) && amongst(f.Companies, l.CompanyID) && (f.Status == "" || l.Status == f.Status) &&
		(f.EnvironmentID == nil || equal(l.EnvironmentID, f.EnvironmentID)) && (f.OwnerKind == "" || l.OwnerKind == f.OwnerKind) &&
		(!f.Held || !l.Status.Ended()) && (!f.DeadLetter || l.Status == environment.LeasePendingCleanup && l.DeadLetterAt != nil) &&
		(f.Driver == (environment.DriverKey{}) || l.Key() == f.Driver)
}

// newestUse orders leases by their last use.
func newestUse(a, b environment.Lease) int { return newest(a.LastUsedAt, b.LastUsedAt, a.ID, b.ID) }

package environmenttest

import (
	"context"
	"slices"

	"berth/environment"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

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
		if _, ok := s.environments[*l.EnvironmentID]; !ok {
			return environment.NotFound("environment")
		}
	}
	now := s.now()
	l.CreatedAt, l.UpdatedAt = s.orNow(l.CreatedAt), s.orNow(l.UpdatedAt)
	if l.AcquiredAt.IsZero() {
		l.AcquiredAt = now
	}
	if l.LastUsedAt.IsZero() {
		l.LastUsedAt = now
	}
	s.leases[l.ID] = copyLease(l)
	return nil
}

// UpdateLease implements leasing.Store.
func (s *Store) UpdateLease(_ context.Context, id uuid.UUID, change func(*environment.Lease) error, a *environment.Activity) (environment.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, ok := s.leases[id]
	if !ok {
		return environment.Lease{}, environment.NotFound("lease")
	}
	next := copyLease(before)
	if err := change(&next); err != nil {
		return environment.Lease{}, err
	}
	if next.Status != before.Status && !before.Status.CanBecome(next.Status) {
		return environment.Lease{}, environment.Conflict("lease_state_changed", "The lease is "+string(before.Status)+" and cannot become "+string(next.Status)+".")
	}
	next.ID, next.UpdatedAt = before.ID, s.now()
	s.leases[id] = copyLease(next)
	if a != nil {
		s.record(*a)
	}
	return copyLease(next), nil
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
		if (f.CompanyID == nil || l.CompanyID == *f.CompanyID) && amongst(f.Companies, l.CompanyID) && (f.Status == "" || l.Status == f.Status) &&
			(f.EnvironmentID == nil || l.EnvironmentID != nil && *l.EnvironmentID == *f.EnvironmentID) {
			found = append(found, copyLease(l))
		}
	}
	slices.SortFunc(found, func(a, b environment.Lease) int { return newest(a.LastUsedAt, b.LastUsedAt, a.ID, b.ID) })
	return page(found, f.Limit, f.Cursor)
}

// OrphanedLeases implements leasing.Store.
func (s *Store) OrphanedLeases(_ context.Context, owner uuid.UUID, limit int) ([]environment.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := []environment.Lease{}
	for id, l := range s.leases {
		if len(taken) >= limit || l.Status.Ended() || l.Status == environment.LeaseRetained || l.Owner == owner || !s.dead(l.Owner) {
			continue
		}
		if l.RunID != nil {
			if r, ok := s.runs[*l.RunID]; ok && !r.Status.Ended() {
				continue
			}
		}
		l.Owner = owner
		s.leases[id] = l
		taken = append(taken, copyLease(l))
	}
	return taken, nil
}

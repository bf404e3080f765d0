package environmenttest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// OrphanedLeases implements leasing.Store.
func (s *Store) OrphanedLeases(_ context.Context, owner uuid.UUID, limit int) ([]environment.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.take(limit, func(l environment.Lease) bool {
		return l.Status.InUse() && l.Owner != owner && s.dead(l.Owner) && !s.atWork(l.RunID)
	}, func(l *environment.Lease) {
		if s.retired(l.Owner) {
			l.CleanupClaimUntil = nil
		}
		l.Owner = owner
	}), nil
}

// ExpiredLeases implements leasing.Store.
func (s *Store) ExpiredLeases(_ context.Context, owner uuid.UUID, limit int) ([]environment.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if now.Sub(s.started) < environment.LeaseTTL {
		return []environment.Lease{}, nil
	}
	return s.take(limit, func(l environment.Lease) bool {
		if l.ExpiresAt == nil || l.ExpiresAt.After(now) {
			return false
		}
		switch l.Status {
		case environment.LeaseRetained:
			return !s.resumed(l.ID)
		case environment.LeaseAcquiring, environment.LeaseActive:
			return !s.atWork(l.RunID)
		}
		return false
	}, func(l *environment.Lease) {
		until := now.Add(environment.ExpiredHold)
		l.Owner, l.ExpiresAt = owner, &until
	}), nil
}

// ClaimCleanups implements leasing.Store.
func (s *Store) ClaimCleanups(_ context.Context, owner uuid.UUID, limit int, hold time.Duration) ([]environment.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	past := func(at *time.Time) bool { return at == nil || !at.After(now) }
	return s.take(limit, func(l environment.Lease) bool {
		return l.Status == environment.LeasePendingCleanup && past(l.CleanupNextAt) && (past(l.CleanupClaimUntil) || s.retired(l.Owner))
	}, func(l *environment.Lease) {
		until := now.Add(hold)
		l.Owner, l.CleanupClaimUntil = owner, &until
	}), nil
}

// take changes up to limit leases that are wanted, those that wait longest first.
func (s *Store) take(limit int, wanted func(environment.Lease) bool, change func(*environment.Lease)) []environment.Lease {
	var ids []uuid.UUID
	for id, l := range s.leases {
		if wanted(l) {
			ids = append(ids, id)
		}
	}
	waits := func(id uuid.UUID) time.Time {
		l := s.leases[id]
		at := cmp.Or(l.CleanupNextAt, l.ExpiresAt, &l.CreatedAt)
		return *at
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int {
		return cmp.Or(waits(a).Compare(waits(b)), cmp.Compare(a.String(), b.String()))
	})
	taken := []environment.Lease{}
	for _, id := range ids[:min(limit, len(ids))] {
		l := s.leases[id]
		change(&l)
		s.leases[id] = l
		taken = append(taken, copyLease(l))
	}
	return taken
}

// atWork reports whether a run is under way.
func (s *Store) atWork(run *uuid.UUID) bool {
	if run == nil {
		return false
	}
	r, ok := s.runs[*run]
	return ok && !r.Status.Ended()
}

// resumed reports whether a lease that is being acquired picks up what another keeps.
func (s *Store) resumed(id uuid.UUID) bool {
	for _, l := range s.leases {
		if l.Status == environment.LeaseAcquiring && l.Resumes != nil && *l.Resumes == id {
			return true
		}
	}
	return false
}

// BeatLeases implements leasing.Store.
func (s *Store) BeatLeases(_ context.Context, owner uuid.UUID, ids []uuid.UUID) ([]uuid.UUID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := []uuid.UUID{}
	for _, id := range ids {
		l, ok := s.leases[id]
		if !ok || l.Owner != owner || !l.Status.InUse() {
			lost = append(lost, id)
			continue
		}
		now := s.now()
		if l.HeartbeatAt = now; l.Status != environment.LeaseReleasing {
			until := now.Add(time.Duration(l.TTLSec) * time.Second)
			l.ExpiresAt = &until
		}
		s.leases[id] = l
	}
	return lost, nil
}

// Restarted makes the twin be a database that started only now.
func (s *Store) Restarted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = s.now()
}

// Age makes every lease older, as if that time had passed for them.
func (s *Store) Age(_ context.Context, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	earlier := func(at *time.Time) *time.Time {
		if at == nil {
			return nil
		}
		past := at.Add(-d)
		return &past
	}
	for id, l := range s.leases {
		l.HeartbeatAt = l.HeartbeatAt.Add(-d)
		l.ExpiresAt, l.CleanupNextAt, l.CleanupClaimUntil = earlier(l.ExpiresAt), earlier(l.CleanupNextAt), earlier(l.CleanupClaimUntil)
		s.leases[id] = l
		s.used[id] = span{from: s.used[id].from.Add(-d), until: earlier(s.used[id].until)}
	}
	return nil
}

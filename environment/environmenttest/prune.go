package environmenttest

import (
	"cmp"
	"context"
	"slices"

	"berth/environment"

	"github.com/google/uuid"
)

// PruneDrafts implements probing.Store.
func (s *Store) PruneDrafts(_ context.Context, limit int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var old []uuid.UUID
	for id, p := range s.probes {
		if p.Draft && p.FinishedAt != nil && p.FinishedAt.Before(s.now().Add(-environment.DraftsKept)) {
			old = append(old, id)
		}
	}
	slices.SortFunc(old, func(a, b uuid.UUID) int { return s.probes[a].FinishedAt.Compare(*s.probes[b].FinishedAt) })
	old = old[:min(limit, len(old))]
	for _, id := range old {
		delete(s.probes, id)
	}
	s.events = slices.DeleteFunc(s.events, func(e environment.Event) bool { return slices.Contains(old, e.Subject) })
	return len(old), nil
}

// PruneAccesses implements secrets.Store.
func (s *Store) PruneAccesses(_ context.Context, limit int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest := slices.SortedFunc(slices.Values(s.accesses), func(a, b environment.SecretAccess) int {
		return cmp.Or(b.At.Compare(a.At), slices.Compare(b.ID[:], a.ID[:]))
	})
	seen, drop := map[uuid.UUID]int{}, map[uuid.UUID]bool{}
	for _, a := range newest {
		seen[a.SecretID]++
		if len(drop) < limit && (seen[a.SecretID] > environment.AccessesKept || a.At.Before(s.now().Add(-environment.AccessesKeptFor))) {
			drop[a.ID] = true
		}
	}
	s.accesses = slices.DeleteFunc(s.accesses, func(a environment.SecretAccess) bool { return drop[a.ID] })
	return len(drop), nil
}

package environmenttest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"berth/environment"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

// leasesWhere are the leases that are wanted, newest use first.
func (s *Store) leasesWhere(wanted func(environment.Lease) bool) []environment.Lease {
	found := []environment.Lease{}
	for _, l := range s.leases {
		if wanted(l) {
			found = append(found, copyLease(l))
		}
	}
	slices.SortFunc(found, newestUse)
	return found
}

// Retained implements leasing.Store.
func (s *Store) Retained(_ context.Context, scope leasing.Scope) ([]environment.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	same := func(a, b *uuid.UUID) bool { return a == nil && b == nil || equal(a, b) }
	return s.leasesWhere(func(l environment.Lease) bool {
		return l.Status == environment.LeaseRetained && equal(l.EnvironmentID, &scope.EnvironmentID) && l.CompanyID == scope.CompanyID &&
			same(l.AgentID, scope.AgentID) && same(l.WorkspaceID, scope.WorkspaceID)
	}), nil
}

// LeasesByID implements leasing.Store.
func (s *Store) LeasesByID(_ context.Context, ids []uuid.UUID) ([]environment.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leasesWhere(func(l environment.Lease) bool { return slices.Contains(ids, l.ID) }), nil
}

// HeldLeases implements leasing.Store.
func (s *Store) HeldLeases(_ context.Context, key environment.DriverKey) ([]environment.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leasesWhere(func(l environment.Lease) bool {
		return l.Key() == key && !l.Status.Ended() && l.Status != environment.LeaseAcquiring
	}), nil
}

// sourcesKept is how long the configuration of a clean lease is still asked by.
const sourcesKept = 7 * 24 * time.Hour

// Sources implements leasing.Store.
func (s *Store) Sources(context.Context) ([]leasing.Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, seen := []leasing.Source{}, map[string]bool{}
	add := func(x leasing.Source) {
		key := x.Driver + "\n" + string(canonical(x.Config))
		if string(x.Config) != "null" && !seen[key] {
			seen[key] = true
			found = append(found, x)
		}
	}
	all := []*savedEnvironment{}
	for _, e := range s.environments {
		if e.Driver == environment.DriverSandbox {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *savedEnvironment) int { return cmp.Compare(a.ID.String(), b.ID.String()) })
	for _, e := range all {
		id := e.ID
		add(leasing.Source{EnvironmentID: &id, Driver: e.Driver, Config: orNull(e.Config)})
	}
	since := s.now().Add(-sourcesKept)
	for _, l := range s.leasesWhere(func(l environment.Lease) bool {
		return l.Driver == environment.DriverSandbox && (!l.Status.Ended() || l.LastUsedAt.After(since))
	}) {
		var ref struct{ Config json.RawMessage }
		if err := json.Unmarshal(l.Ref, &ref); err == nil {
			company := l.CompanyID
			add(leasing.Source{EnvironmentID: l.EnvironmentID, CompanyID: &company, Driver: l.Driver, Config: orNull(ref.Config)})
		}
	}
	return found, nil
}

// canonical is a document as any two writings of it are.
func canonical(doc json.RawMessage) []byte {
	var v any
	if json.Unmarshal(doc, &v) != nil {
		return bytes.TrimSpace(doc)
	}
	return toJSON(v)
}

// Usage implements leasing.Store.
func (s *Store) Usage(_ context.Context, id uuid.UUID) (environment.Usage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usage(id), nil
}

func (s *Store) usage(id uuid.UUID) environment.Usage {
	var u environment.Usage
	now := s.now().UTC()
	today := now.Truncate(24 * time.Hour)
	for _, l := range s.leases {
		if l.EnvironmentID == nil || *l.EnvironmentID != id {
			continue
		}
		if l.Status.InUse() {
			u.ActiveLeases++
		}
		from, until := s.used[l.ID].from, now
		if ended := s.used[l.ID].until; ended != nil {
			until = *ended
		}
		if from.Before(today) {
			from = today
		}
		u.MinutesToday += max(0, until.Sub(from).Minutes())
	}
	return u
}

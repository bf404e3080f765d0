package environmenttest

import (
	"context"

	"berth/environment"

	"github.com/google/uuid"
)

// Impact implements catalogue.Store.
func (s *Store) Impact(_ context.Context, id uuid.UUID) (environment.Impact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.impact(id, false)
}

func (s *Store) impact(id uuid.UUID, reassigned bool) (environment.Impact, error) {
	e, ok := s.environments[id]
	if !ok {
		return environment.Impact{}, environment.NotFound("environment")
	}
	i := environment.Impact{EnvironmentID: id, IsManagedLocal: e.Driver == environment.DriverLocal, Uses: s.uses(e),
		IsDefault: s.settings.DefaultEnvironmentID != nil && *s.settings.DefaultEnvironmentID == id}
	for _, secret := range s.secrets {
		if secret.EnvironmentID != nil && *secret.EnvironmentID == id && secret.RetiredAt == nil {
			i.SecretCount++
		}
	}
	i.Judge(reassigned)
	return i, nil
}

// DeleteEnvironment implements catalogue.Store.
func (s *Store) DeleteEnvironment(_ context.Context, id uuid.UUID, o environment.DeleteOptions, a environment.Activity) (environment.Environment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.impact(id, o.ReassignTo != nil)
	if err != nil {
		return environment.Environment{}, err
	}
	if e := s.environments[id]; o.IfRevision != nil && *o.IfRevision != e.Revision {
		return environment.Environment{}, s.stale(e)
	}
	if !i.CanDelete() {
		return environment.Environment{}, environment.Conflict("environment_in_use", "The environment is in use.").
			With("deleteBlockedReasons", i.Blocked)
	}
	if o.ReassignTo != nil {
		if err := s.reassign(id, *o.ReassignTo, i.IsDefault); err != nil {
			return environment.Environment{}, err
		}
	}
	gone := s.environments[id].copy()
	s.forget(id)
	s.record(a)
	s.bump()
	return gone, nil
}

func (s *Store) reassign(from, to uuid.UUID, isDefault bool) error {
	if from == to {
		return environment.Invalid(environment.CodeEnvironmentNotFound, "Choose another environment to take over.")
	}
	if err := s.mayBeDefault(to); err != nil {
		return err
	}
	if isDefault {
		s.settings.DefaultEnvironmentID = &to
		s.settings.Revision++
	}
	for _, a := range s.agents {
		if a.DefaultEnvironmentID != nil && *a.DefaultEnvironmentID == from {
			a.DefaultEnvironmentID, a.UpdatedAt = &to, s.now()
		}
	}
	return nil
}

// forget drops an environment with its secrets and probes; runs and leases stay.
func (s *Store) forget(id uuid.UUID) {
	is := func(other *uuid.UUID) bool { return other != nil && *other == id }
	for lid, l := range s.leases {
		if is(l.EnvironmentID) && l.Status == environment.LeaseRetained {
			l.Abandon(s.now())
			s.leases[lid] = l
		}
	}
	for key := range s.qualifications {
		if key.environment == id {
			delete(s.qualifications, key)
		}
	}
	for _, secret := range s.secrets {
		if is(secret.EnvironmentID) {
			s.retire(secret)
		}
	}
	delete(s.bindings, id)
	for pid, p := range s.probes {
		if is(p.EnvironmentID) {
			delete(s.probes, pid)
		}
	}
	for _, r := range s.runs {
		if is(r.EnvironmentID) {
			r.EnvironmentID = nil
		}
	}
	for lid, l := range s.leases {
		if is(l.EnvironmentID) {
			l.EnvironmentID = nil
			s.leases[lid] = l
		}
	}
	delete(s.environments, id)
}

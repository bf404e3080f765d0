package environmenttest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"berth/environment"
	"berth/environment/catalogue"

	"github.com/google/uuid"
)

type savedEnvironment struct {
	environment.Environment
	last   *uuid.UUID
	recent []environment.ProbeMark
	runs   int
}

// copy returns the environment without anything that the caller could change.
func (e *savedEnvironment) copy() environment.Environment {
	out := e.Environment
	out.Config, out.Metadata = orNull(out.Config), orNull(out.Metadata)
	if out.Budget != nil {
		budget := *out.Budget
		out.Budget = &budget
	}
	if out.EnvVars = maps.Clone(out.EnvVars); out.EnvVars == nil {
		out.EnvVars = map[string]environment.EnvVar{}
	}
	return out
}

// EnsureLocal implements catalogue.Store.
func (s *Store) EnsureLocal(_ context.Context, local environment.Environment, asDefault bool) (environment.Environment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.local(); e != nil {
		return e.copy(), nil
	}
	name := local.Name
	for n := 1; s.named(local.Name, uuid.Nil); n++ {
		local.Name = name + " (this server)"
		if n > 1 {
			local.Name = fmt.Sprintf("%s (this server %d)", name, n)
		}
	}
	e := s.insert(local)
	if asDefault && s.settings.DefaultEnvironmentID == nil {
		id := e.ID
		s.settings.DefaultEnvironmentID = &id
		s.settings.Revision++
	}
	s.bump()
	return e.copy(), nil
}

func (s *Store) local() *savedEnvironment {
	for _, e := range s.environments {
		if e.Driver == environment.DriverLocal {
			return e
		}
	}
	return nil
}

// named reports whether another environment than but has this name.
func (s *Store) named(name string, but uuid.UUID) bool {
	for id, e := range s.environments {
		if id != but && environment.NameKey(e.Name) == environment.NameKey(name) {
			return true
		}
	}
	return false
}

func (s *Store) insert(e environment.Environment) *savedEnvironment {
	e.Revision, e.ConfigRevision = 1, 1
	if e.Status == "" {
		e.Status = environment.StatusActive
	}
	e.CreatedAt, e.UpdatedAt = s.orNow(e.CreatedAt), s.orNow(e.UpdatedAt)
	saved := &savedEnvironment{Environment: e}
	saved.Environment = saved.copy()
	s.environments[e.ID] = saved
	return saved
}

// Environment implements catalogue.Store, probing.Store and running.Store.
func (s *Store) Environment(_ context.Context, id uuid.UUID) (environment.EnvironmentView, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.environments[id]
	if !ok {
		return environment.EnvironmentView{}, environment.NotFound("environment")
	}
	return s.view(e), nil
}

func (s *Store) view(e *savedEnvironment) environment.EnvironmentView {
	v := environment.EnvironmentView{Environment: e.copy(), Recent: slices.Clone(e.recent), Uses: s.uses(e),
		IsDefault:   s.settings.DefaultEnvironmentID != nil && *s.settings.DefaultEnvironmentID == e.ID,
		Provisioned: e.Managed && s.settings.ManagedProvider != ""}
	if e.last != nil {
		last := s.probes[*e.last].copy()
		v.Last = &last
	}
	if p := s.underWay(e.ID); p != nil {
		active := p.copy()
		v.Active = &active
	}
	return v
}

func (s *Store) uses(e *savedEnvironment) environment.Uses {
	u := environment.Uses{Runs: e.runs}
	for _, l := range s.leases {
		if l.EnvironmentID == nil || *l.EnvironmentID != e.ID {
			continue
		}
		switch {
		case l.Status == environment.LeasePendingCleanup:
			u.PendingCleanup++
		case l.Status == environment.LeaseRetained:
			u.Retained++
		case !l.Status.Ended():
			u.ActiveLeases++
		}
	}
	for _, r := range s.runs {
		if r.EnvironmentID != nil && *r.EnvironmentID == e.ID && !r.Status.Ended() {
			u.ActiveRuns++
		}
	}
	for _, a := range s.agents {
		if a.DefaultEnvironmentID != nil && *a.DefaultEnvironmentID == e.ID {
			u.AgentDefaults++
		}
	}
	return u
}

// CreateEnvironment implements catalogue.Store.
func (s *Store) CreateEnvironment(_ context.Context, w catalogue.Write) (environment.Environment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayWrite(w.Environment); err != nil {
		return environment.Environment{}, err
	}
	if err := s.mayWriteSecrets(w); err != nil {
		return environment.Environment{}, err
	}
	e := s.insert(w.Environment)
	s.writeSecrets(w)
	s.bump()
	return e.copy(), nil
}

func (s *Store) mayWrite(e environment.Environment) error {
	if s.named(e.Name, e.ID) {
		return nameTaken()
	}
	if have := s.local(); e.Driver == environment.DriverLocal && have != nil && have.ID != e.ID {
		return environment.Conflict("local_exists", "There is one local environment already.")
	}
	if have := s.managed(); e.Managed && have != nil && have.ID != e.ID {
		return environment.Conflict(environment.CodeEnvironmentManaged, "There is one managed sandbox already.")
	}
	return nil
}

// UpdateEnvironment implements catalogue.Store.
func (s *Store) UpdateEnvironment(_ context.Context, w catalogue.Write, expect int) (environment.Environment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.environments[w.Environment.ID]
	if !ok {
		return environment.Environment{}, environment.NotFound("environment")
	}
	if e.Revision != expect {
		return environment.Environment{}, s.stale(e)
	}
	if err := s.mayWrite(w.Environment); err != nil {
		return environment.Environment{}, err
	}
	if w.Environment.Status == environment.StatusArchived && s.view(e).IsDefault {
		return environment.Environment{}, environment.IsTheDefault(e.Name)
	}
	if err := s.mayWriteSecrets(w); err != nil {
		return environment.Environment{}, err
	}
	next := w.Environment
	next.Revision, next.ConfigRevision, next.CreatedAt = e.Revision+1, e.ConfigRevision, e.CreatedAt
	if w.ConfigChanged {
		next.ConfigRevision = next.Revision
	}
	next.UpdatedAt = s.orNow(next.UpdatedAt)
	e.Environment = next
	e.Environment = e.copy()
	s.writeSecrets(w)
	s.revokeFor(e.ID, w.RevokeFor, w.Activity)
	s.bump()
	return e.copy(), nil
}

// stale is the refusal of a write that came too late, and says who was first.
func (s *Store) stale(e *savedEnvironment) error {
	by := ""
	for _, a := range s.activity {
		if a.EntityType == "environment" && a.EntityID == e.ID.String() {
			by = a.ActorName
		}
	}
	return environment.NewError(environment.KindStale, environment.CodeStaleRevision, "Somebody changed this environment since.").
		With("current", e.Revision).With("changedBy", by).With("changedAt", e.UpdatedAt.UTC())
}

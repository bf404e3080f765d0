package environmenttest

import (
	"cmp"
	"context"
	"slices"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
)

// Agents implements identity.Store.
func (s *Store) Agents(_ context.Context, company uuid.UUID) ([]environment.Agent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []environment.Agent{}
	for _, a := range s.agents {
		if a.CompanyID == company {
			all = append(all, *a)
		}
	}
	slices.SortFunc(all, func(a, b environment.Agent) int {
		return cmp.Compare(environment.NameKey(a.Name), environment.NameKey(b.Name))
	})
	return all, nil
}

// Agent implements identity.Store.
func (s *Store) Agent(_ context.Context, id uuid.UUID) (environment.Agent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.agents[id]; ok {
		return *a, nil
	}
	return environment.Agent{}, environment.NotFound("agent")
}

// agentNamed reports whether another agent of the company has this name.
func (s *Store) agentNamed(company uuid.UUID, name string, but uuid.UUID) bool {
	for id, a := range s.agents {
		if id != but && a.CompanyID == company && environment.NameKey(a.Name) == environment.NameKey(name) {
			return true
		}
	}
	return false
}

// CreateAgent implements identity.Store.
func (s *Store) CreateAgent(_ context.Context, g environment.Agent, a environment.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g.DefaultEnvironmentID != nil {
		if err := s.mayBeDefault(*g.DefaultEnvironmentID); err != nil {
			return err
		}
	}
	if _, err := s.company(g.CompanyID); err != nil {
		return err
	}
	if s.agentNamed(g.CompanyID, g.Name, g.ID) {
		return nameTaken()
	}
	if g.Status == "" {
		g.Status = environment.AgentActive
	}
	g.CreatedAt, g.UpdatedAt = s.orNow(g.CreatedAt), s.orNow(g.UpdatedAt)
	s.agents[g.ID] = &g
	s.record(a)
	if g.DefaultEnvironmentID != nil {
		s.bump()
	}
	return nil
}

// UpdateAgent implements identity.Store.
func (s *Store) UpdateAgent(_ context.Context, id uuid.UUID, p identity.AgentPatch, a environment.Activity) (environment.Agent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.DefaultEnvironmentID != nil && !p.ClearDefault {
		if err := s.mayBeDefault(*p.DefaultEnvironmentID); err != nil {
			return environment.Agent{}, err
		}
	}
	have, ok := s.agents[id]
	if !ok {
		return environment.Agent{}, environment.NotFound("agent")
	}
	next := *have
	if p.Name != nil {
		next.Name = *p.Name
	}
	if s.agentNamed(next.CompanyID, next.Name, id) {
		return environment.Agent{}, nameTaken()
	}
	if p.AdapterType != nil {
		next.AdapterType = *p.AdapterType
	}
	if p.Status != nil {
		next.Status = *p.Status
	}
	if p.DefaultEnvironmentID != nil {
		to := *p.DefaultEnvironmentID
		next.DefaultEnvironmentID = &to
	}
	if p.ClearDefault {
		next.DefaultEnvironmentID = nil
	}
	next.UpdatedAt = s.now()
	s.agents[id] = &next
	s.wakeAgent(id)
	s.record(a)
	if p.DefaultEnvironmentID != nil || p.ClearDefault {
		s.bump()
	}
	return next, nil
}

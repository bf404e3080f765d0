package environmenttest

import (
	"context"
	"slices"

	"berth/environment"
	"berth/environment/probing"

	"github.com/google/uuid"
)

type savedProbe struct {
	environment.Probe
	cancelBy string
}

func (p *savedProbe) copy() environment.Probe {
	out := p.Probe
	out.Stages = append([]environment.Stage{}, p.Stages...)
	out.Presented = append([]environment.HostKey{}, p.Presented...)
	out.Trusted = append([]environment.HostKey{}, p.Trusted...)
	return out
}

// underWay returns the probe of the saved environment that has not ended.
func (s *Store) underWay(environmentID uuid.UUID) *savedProbe {
	for _, p := range s.probes {
		if !p.Draft && !p.State.Ended() && p.EnvironmentID != nil && *p.EnvironmentID == environmentID {
			return p
		}
	}
	return nil
}

// saved reports whether a probe is of a saved environment.
func saved(p environment.Probe) bool { return !p.Draft && p.EnvironmentID != nil }

// CreateProbe implements probing.Store.
func (s *Store) CreateProbe(_ context.Context, p environment.Probe) (environment.Probe, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.EnvironmentID != nil {
		if _, ok := s.environments[*p.EnvironmentID]; !ok {
			return environment.Probe{}, false, environment.NotFound("environment")
		}
	}
	if saved(p) {
		if have := s.underWay(*p.EnvironmentID); have != nil {
			return have.copy(), false, nil
		}
	}
	p.State, p.CreatedAt = environment.ProbeQueued, s.orNow(p.CreatedAt)
	row := &savedProbe{Probe: p}
	row.Probe = row.copy()
	s.probes[p.ID] = row
	if saved(p) {
		s.bump()
	}
	s.wake(p.ID)
	return row.copy(), true, nil
}

// BeginProbe implements probing.Store.
func (s *Store) BeginProbe(_ context.Context, id uuid.UUID) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.probes[id]
	if !ok || p.State != environment.ProbeQueued {
		return false, nil
	}
	now := s.now()
	p.Deadline = now.Add(p.Deadline.Sub(p.CreatedAt))
	p.State, p.StartedAt = environment.ProbeRunning, &now
	s.emit(id, environment.EventState, p.EventOf(), nil)
	return true, nil
}

// ReportStages implements probing.Store.
func (s *Store) ReportStages(_ context.Context, id uuid.UUID, stages ...environment.Stage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.probes[id]
	if !ok {
		return environment.NotFound("probe")
	}
	if p.State.Ended() {
		return nil
	}
	for _, stage := range stages {
		p.SetStage(stage)
		s.emit(id, environment.EventStage, stage, nil)
	}
	return nil
}

// FinishProbe implements probing.Store.
func (s *Store) FinishProbe(_ context.Context, p environment.Probe, change environment.QualificationChange, a environment.Activity) (environment.Probe, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, ok := s.probes[p.ID]
	if !ok {
		return environment.Probe{}, environment.NotFound("probe")
	}
	if row.State.Ended() {
		return row.copy(), nil
	}
	if !p.State.Ended() {
		return environment.Probe{}, environment.Conflict("probe_state_changed", "A verdict ends a probe.")
	}
	next := row.Probe
	next.State, next.OK, next.Code, next.Summary, next.Stages = p.State, p.OK, p.Code, p.Summary, p.Stages
	next.Host, next.Platform, next.Presented, next.Trusted = p.Host, p.Platform, p.Presented, p.Trusted
	next.Image, next.Qualification, next.LeaseID, next.Proves = p.Image, p.Qualification, p.LeaseID, p.Proves
	if next.FinishedAt = p.FinishedAt; next.FinishedAt == nil {
		now := s.now()
		next.FinishedAt = &now
	}
	if p.StartedAt != nil {
		next.StartedAt = p.StartedAt
	}
	row.Probe = next
	s.qualify(row, change, a)
	s.conclude(row)
	s.record(a)
	return row.copy(), nil
}

// conclude does what follows from a probe's end.
func (s *Store) conclude(row *savedProbe) {
	row.Probe = row.copy()
	s.emit(row.ID, environment.EventEnd, row.EventOf(), nil)
	if !saved(row.Probe) {
		return
	}
	if e, ok := s.environments[*row.EnvironmentID]; ok {
		if row.BecomesLast(e.ConfigRevision, e.last != nil) {
			id := row.ID
			e.last = &id
		}
		if mark, ok := row.Mark(); ok {
			e.recent = append(e.recent, mark)
			e.recent = slices.Clone(e.recent[max(0, len(e.recent)-environment.MaxRecent):])
		}
	}
	s.bump()
}

// Probe implements probing.Store.
func (s *Store) Probe(_ context.Context, id uuid.UUID) (environment.Probe, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.probes[id]
	if !ok {
		return environment.Probe{}, environment.NotFound("probe")
	}
	return p.copy(), nil
}

// Probes implements probing.Store.
func (s *Store) Probes(_ context.Context, f probing.Filter) (environment.Page[environment.Probe], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []environment.Probe{}
	for _, p := range s.probes {
		if saved(p.Probe) && *p.EnvironmentID == f.EnvironmentID && (f.Companies == nil || p.CompanyID != nil && amongst(f.Companies, *p.CompanyID)) {
			found = append(found, p.copy())
		}
	}
	slices.SortFunc(found, func(a, b environment.Probe) int { return newest(a.CreatedAt, b.CreatedAt, a.ID, b.ID) })
	return page(found, f.Limit, f.Cursor)
}

// AskCancel implements probing.Store.
func (s *Store) AskCancel(_ context.Context, id uuid.UUID, by string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.probes[id]
	if !ok {
		return environment.NotFound("probe")
	}
	if !p.State.Ended() && p.cancelBy == "" {
		p.cancelBy = by
		s.wake(id)
	}
	return nil
}

// CancelAsked implements probing.Store.
func (s *Store) CancelAsked(_ context.Context, id uuid.UUID) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.probes[id]
	if !ok {
		return false, environment.NotFound("probe")
	}
	return p.cancelBy != "", nil
}

// InterruptOrphans implements probing.Store.
func (s *Store) InterruptOrphans(_ context.Context, owner uuid.UUID) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, p := range s.probes {
		if p.State.Ended() || (p.Owner == owner || !s.dead(p.Owner)) && !s.overdue(p.Probe) {
			continue
		}
		p.Interrupt(s.now())
		s.conclude(p)
		s.record(environment.Interruption(p.Probe))
		n++
	}
	return n, nil
}

// overdue reports whether a running probe is so far past its deadline that its
// server must have lost it.
func (s *Store) overdue(p environment.Probe) bool {
	return p.State == environment.ProbeRunning && s.now().Sub(p.Deadline) > environment.ProbeOverdue
}

package environmenttest

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"berth/environment"
	"berth/environment/running"

	"github.com/google/uuid"
)

type savedRun struct {
	environment.Run
	received map[environment.Stream]int64
}

func (r *savedRun) copy() environment.Run {
	out := r.Run
	out.Command, out.EnvNames = append([]string{}, r.Command...), append([]string{}, r.EnvNames...)
	out.Phases = append([]environment.Phase{}, r.Phases...)
	out.Input = slices.Clone(r.Input)
	return out
}

// CreateRun implements running.Store.
func (s *Store) CreateRun(_ context.Context, r environment.Run, a environment.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.company(r.CompanyID); err != nil {
		return err
	}
	if r.EnvironmentID != nil {
		e, ok := s.environments[*r.EnvironmentID]
		if !ok {
			return environment.NotFound("environment")
		}
		e.runs++
	}
	r.CreatedAt = s.orNow(r.CreatedAt)
	row := &savedRun{Run: r, received: map[environment.Stream]int64{}}
	row.Run = row.copy()
	s.runs[r.ID] = row
	s.emit(r.ID, environment.EventState, r.EventOf(), nil)
	s.record(a)
	return nil
}

func (s *Store) run(id uuid.UUID) (*savedRun, error) {
	if r, ok := s.runs[id]; ok {
		return r, nil
	}
	return nil, environment.NotFound("run")
}

// Run implements running.Store.
func (s *Store) Run(_ context.Context, id uuid.UUID) (environment.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.run(id)
	if err != nil {
		return environment.Run{}, err
	}
	return r.copy(), nil
}

// Runs implements running.Store.
func (s *Store) Runs(_ context.Context, f running.Filter) (environment.Page[environment.Run], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []environment.Run{}
	for _, r := range s.runs {
		if (f.CompanyID == nil || r.CompanyID == *f.CompanyID) && amongst(f.Companies, r.CompanyID) &&
			(f.AgentID == nil || r.AgentID != nil && *r.AgentID == *f.AgentID) && (f.Status == "" || r.Status == f.Status) &&
			(f.EnvironmentID == nil || r.EnvironmentID != nil && *r.EnvironmentID == *f.EnvironmentID) &&
			strings.Contains(environment.RunSearchText(r.Run), strings.ToLower(strings.TrimSpace(f.Query))) {
			out := r.copy()
			out.Input = nil
			found = append(found, out)
		}
	}
	slices.SortFunc(found, func(a, b environment.Run) int { return newest(a.CreatedAt, b.CreatedAt, a.ID, b.ID) })
	return page(found, f.Limit, f.Cursor)
}

// UpdateRun implements running.Store.
func (s *Store) UpdateRun(_ context.Context, id, owner uuid.UUID, change func(*environment.Run) error, activity ...*environment.Activity) (environment.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, err := s.run(id)
	if err != nil {
		return environment.Run{}, err
	}
	if owner != uuid.Nil && row.Owner != owner {
		return environment.Run{}, environment.Conflict("run_taken_over", "Another server looks after this run now.")
	}
	before, next := row.copy(), row.copy()
	if err := change(&next); err != nil {
		return environment.Run{}, err
	}
	if next.Status != before.Status && !before.Status.CanBecome(next.Status) {
		return environment.Run{}, environment.Conflict("run_state_changed", "The run is "+string(before.Status)+" and cannot become "+string(next.Status)+".")
	}
	next.ID, next.LogSize, next.LogCut = before.ID, before.LogSize, before.LogCut
	if reflect.DeepEqual(before, next) {
		return before, nil
	}
	row.Run = next
	row.Run = row.copy()
	kind := environment.EventState
	if next.Status != before.Status && next.Status.Ended() {
		kind = environment.EventEnd
		s.emit(id, environment.EventState, next.EventOf(), nil)
	}
	s.emit(id, kind, next.EventOf(), nil)
	for _, a := range activity {
		s.record(*a)
	}
	return row.copy(), nil
}

// OrphanedRuns implements running.Store.
func (s *Store) OrphanedRuns(_ context.Context, owner uuid.UUID, limit int) ([]environment.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := []environment.Run{}
	for _, r := range s.runs {
		if len(taken) < limit && !r.Status.Ended() && r.Owner != owner && s.dead(r.Owner) {
			r.Owner = owner
			if r.LeaseID != nil {
				if l, ok := s.leases[*r.LeaseID]; ok && l.Status == environment.LeaseActive {
					l.Owner = owner
					s.leases[l.ID] = l
				}
			}
			taken = append(taken, r.copy())
		}
	}
	return taken, nil
}

// TakeBackRun makes a run what it was before: a crash of a database does that to
// what was committed lazily.
func (s *Store) TakeBackRun(before environment.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.runs[before.ID]
	row.Run = before
	row.Run = row.copy()
}

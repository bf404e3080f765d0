package environmenttest

import (
	"context"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

type savedRemains struct {
	environment.Remains
	owner         uuid.UUID // zero: nobody
	nextAt, until time.Time
}

// KeepRemains implements running.Store.
func (s *Store) KeepRemains(_ context.Context, run, lease uuid.UUID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.remains[run]; !there {
		s.remains[run] = &savedRemains{Remains: environment.Remains{RunID: run, LeaseID: lease}, nextAt: s.now(), until: s.now().Add(environment.RemainsKept)}
	}
	return nil
}

// ClaimRemains implements running.Store.
func (s *Store) ClaimRemains(_ context.Context, owner uuid.UUID, limit int, hold time.Duration) ([]environment.Remains, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var claimed []environment.Remains
	for id, x := range s.remains {
		run, ok := s.runs[id]
		due := !x.nextAt.After(s.now()) || x.owner != uuid.Nil && s.dead(x.owner)
		if ok && run.Status.Ended() && due && len(claimed) < limit {
			x.owner, x.nextAt = owner, s.now().Add(hold)
			claimed = append(claimed, x.Remains)
		}
	}
	return claimed, nil
}

// PostponeRemains implements running.Store.
func (s *Store) PostponeRemains(_ context.Context, run, owner uuid.UUID, wait time.Duration) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.remains[run]
	if !ok || x.owner != owner {
		return false, nil
	}
	if !x.until.After(s.now()) {
		delete(s.remains, run)
		return true, nil
	}
	x.owner, x.Tries, x.nextAt = uuid.Nil, x.Tries+1, s.now().Add(wait)
	return false, nil
}

// DropRemains implements running.Store.
func (s *Store) DropRemains(_ context.Context, run, owner uuid.UUID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x, ok := s.remains[run]; ok && x.owner == owner {
		delete(s.remains, run)
	}
	return nil
}

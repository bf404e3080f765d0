package leasing

import (
	"context"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// BeatEvery is the time between beats for what this process holds.
const BeatEvery = 10 * time.Second

// holding is a lease that this process beats for.
type holding struct {
	until time.Time // when it ends in any case; zero: it does not
	lost  bool      // the store said that it is not this server's any more
}

// mortal reports whether a beat would make the lease outlive its end.
func (h holding) mortal(now time.Time) bool {
	return !h.until.IsZero() && now.Add(environment.LeaseTTL).After(h.until)
}

// ttlUntil is how long a lease lives without a beat.
func ttlUntil(now time.Time, expires *time.Time) int {
	ttl := environment.LeaseTTL
	if expires != nil {
		ttl = min(ttl, expires.Sub(now))
	}
	return max(1, int(ttl.Seconds()))
}

// Hold beats for a lease that an earlier server acquired, until Finish or LetGo.
func (s *Service) Hold(id uuid.UUID) { s.hold(id, nil) }

func (s *Service) hold(id uuid.UUID, expires *time.Time) {
	h := holding{}
	if expires != nil {
		h.until = *expires
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[id] = h
}

// LetGo ends the beating for a lease without releasing it: the next server takes
// it up.
func (s *Service) LetGo(id uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, id)
}

// Lost reports whether a lease that this process holds has been taken from it: it
// expired, or another server looks after it now.
func (s *Service) Lost(id uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[id].lost
}

// beatsFor reports whether this process keeps a lease alive.
func (s *Service) beatsFor(id uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.held[id]
	return ok && !h.lost && !h.mortal(s.now())
}

// Beat says in one statement that this process is at work with all that it holds.
func (s *Service) Beat(ctx context.Context) error {
	s.mu.Lock()
	now := s.now()
	var ids []uuid.UUID
	for id, h := range s.held {
		if !h.lost && !h.mortal(now) {
			ids = append(ids, id)
		}
	}
	s.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	lost, err := s.store.BeatLeases(ctx, s.owner, ids)
	if err != nil {
		return err
	}
	for _, id := range lost {
		if s.lose(id) {
			s.log.Warn("a lease was taken from its holder", "lease", id)
		}
	}
	return nil
}

// lose notes that a lease is not this server's any more; false when this process
// has let go of it meanwhile.
func (s *Service) lose(id uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.held[id]
	if ok {
		h.lost = true
		s.held[id] = h
	}
	return ok
}

// beats is the loop of Beat.
func (s *Service) beats(ctx context.Context) {
	tick := time.NewTicker(BeatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		limited, cancel := context.WithTimeout(ctx, BeatEvery)
		if err := s.Beat(limited); err != nil && ctx.Err() == nil {
			s.log.Warn("beat for leases", "err", err)
		}
		cancel()
	}
}

package environmenttest

import (
	"context"
	"time"

	"berth/environment/identity"
)

type signInFailures struct {
	count     int
	last      time.Time
	waitUntil time.Time
}

// SignInFailed implements identity.Store.
func (s *Store) SignInFailed(_ context.Context, keys []string) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for _, key := range keys {
		f := s.failures[key]
		if now.Sub(f.last) > identity.ForgivenAfter {
			f.count = 0
		}
		f.count, f.last = f.count+1, now
		if wait := identity.WaitAfter(key, f.count); wait > 0 {
			f.waitUntil = now.Add(wait)
		}
		s.failures[key] = f
	}
	return s.signInWait(keys), nil
}

// SignInWait implements identity.Store.
func (s *Store) SignInWait(_ context.Context, keys []string) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signInWait(keys), nil
}

// signInWait is until when the longest wait of the keys lasts; zero without any.
func (s *Store) signInWait(keys []string) time.Time {
	var until time.Time
	for _, key := range keys {
		if f := s.failures[key]; f.waitUntil.After(s.now()) && f.waitUntil.After(until) {
			until = f.waitUntil
		}
	}
	return until
}

// SignedIn implements identity.Store.
func (s *Store) SignedIn(_ context.Context, keys []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		delete(s.failures, key)
	}
	return nil
}

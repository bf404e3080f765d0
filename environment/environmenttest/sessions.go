package environmenttest

import (
	"context"
	"slices"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

type savedSession struct {
	environment.Session
	expires time.Time
}

// CreateSession implements identity.Store.
func (s *Store) CreateSession(_ context.Context, session environment.Session, expires time.Time, a environment.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.person(session.PersonID)
	if err != nil {
		return err
	}
	session.CreatedAt, session.LastSeenAt = s.orNow(session.CreatedAt), s.orNow(session.LastSeenAt)
	s.sessions[session.ID] = &savedSession{Session: session, expires: expires}
	now := s.now()
	p.LastSeenAt = &now
	s.record(a)
	return nil
}

// Sessions implements identity.Store.
func (s *Store) Sessions(_ context.Context, person uuid.UUID) ([]environment.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []environment.Session{}
	for _, session := range s.sessions {
		if session.PersonID == person && s.now().Before(session.expires) {
			all = append(all, session.Session)
		}
	}
	slices.SortFunc(all, func(a, b environment.Session) int { return newest(a.LastSeenAt, b.LastSeenAt, a.ID, b.ID) })
	return all, nil
}

// EndSessions implements identity.Store.
func (s *Store) EndSessions(_ context.Context, person uuid.UUID, ids []uuid.UUID, a environment.Activity) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := s.endSessions(func(x *savedSession) bool {
		return x.PersonID == person && (len(ids) == 0 || slices.Contains(ids, x.ID))
	})
	if ended > 0 {
		s.record(a)
	}
	return ended, nil
}

// endSessions ends those that are meant and wakes each one's subject.
func (s *Store) endSessions(meant func(*savedSession) bool) int {
	n := 0
	for id, session := range s.sessions {
		if meant(session) {
			delete(s.sessions, id)
			s.wake(id)
			n++
		}
	}
	return n
}

// PasswordHash implements identity.Store.
func (s *Store) PasswordHash(_ context.Context, id uuid.UUID) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.person(id)
	if err != nil {
		return "", err
	}
	return p.hash, nil
}

// SetPassword implements identity.Store.
func (s *Store) SetPassword(_ context.Context, person uuid.UUID, hash string, keep *uuid.UUID, a environment.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.setPassword(person, hash, keep); err != nil {
		return err
	}
	s.record(a)
	return nil
}

func (s *Store) setPassword(person uuid.UUID, hash string, keep *uuid.UUID) error {
	p, err := s.person(person)
	if err != nil {
		return err
	}
	p.hash, p.UpdatedAt = hash, s.now()
	s.revokeLinks(meantFor(person))
	s.endSessions(func(x *savedSession) bool { return x.PersonID == person && (keep == nil || x.ID != *keep) })
	return nil
}

// Rehash implements identity.Store.
func (s *Store) Rehash(_ context.Context, person uuid.UUID, from, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.people[person]; ok && p.hash == from {
		p.hash = to
	}
	return nil
}

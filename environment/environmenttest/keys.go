package environmenttest

import (
	"context"
	"slices"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
)

type savedKey struct {
	environment.Key
	hash []byte
}

// CreateKey implements identity.Store.
func (s *Store) CreateKey(_ context.Context, k environment.Key, hash []byte, most int, a environment.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.PersonID != nil {
		if _, err := s.person(*k.PersonID); err != nil {
			return err
		}
	}
	if k.AgentID != nil {
		if _, ok := s.agents[*k.AgentID]; !ok {
			return environment.NotFound("agent")
		}
	}
	n, now := 0, s.now()
	for _, other := range s.keys {
		if sameHolder(other.Key, k) && other.Usable(now) {
			n++
		}
	}
	if n >= most {
		return identity.TooManyKeys(most)
	}
	k.CreatedAt = s.orNow(k.CreatedAt)
	s.keys[k.ID] = &savedKey{Key: k, hash: slices.Clone(hash)}
	s.record(a)
	return nil
}

func sameHolder(a, b environment.Key) bool {
	if b.PersonID != nil {
		return a.PersonID != nil && *a.PersonID == *b.PersonID
	}
	return a.AgentID != nil && b.AgentID != nil && *a.AgentID == *b.AgentID
}

// KeysOfPerson implements identity.Store.
func (s *Store) KeysOfPerson(_ context.Context, person uuid.UUID) ([]environment.Key, error) {
	return s.keysOf(func(k environment.Key) bool { return k.PersonID != nil && *k.PersonID == person }), nil
}

// KeysOfAgent implements identity.Store.
func (s *Store) KeysOfAgent(_ context.Context, agent uuid.UUID) ([]environment.Key, error) {
	return s.keysOf(func(k environment.Key) bool { return k.AgentID != nil && *k.AgentID == agent }), nil
}

func (s *Store) keysOf(meant func(environment.Key) bool) []environment.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []environment.Key{}
	for _, k := range s.keys {
		if meant(k.Key) {
			all = append(all, k.Key)
		}
	}
	slices.SortFunc(all, func(a, b environment.Key) int { return newest(a.CreatedAt, b.CreatedAt, a.ID, b.ID) })
	return all
}

// RevokeKey implements identity.Store.
func (s *Store) RevokeKey(_ context.Context, holder, id uuid.UUID, a environment.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.keys[id]
	if !ok || (k.PersonID == nil || *k.PersonID != holder) && (k.AgentID == nil || *k.AgentID != holder) {
		return environment.NotFound("key")
	}
	if k.RevokedAt == nil {
		now := s.now()
		k.RevokedAt = &now
		s.wake(id)
		s.record(a)
	}
	return nil
}

package environmenttest

import (
	"bytes"
	"context"
	"time"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
)

// ActorOfSession implements identity.Store.
func (s *Store) ActorOfSession(_ context.Context, id uuid.UUID) (environment.Actor, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessionActor(id, true)
}

func (s *Store) sessionActor(id uuid.UUID, seen bool) (environment.Actor, error) {
	session, ok := s.sessions[id]
	if !ok || !s.now().Before(session.expires) {
		return environment.Actor{}, identity.SessionEnded()
	}
	p := s.people[session.PersonID]
	if p == nil || !p.maySignIn() {
		return environment.Actor{}, identity.SessionEnded()
	}
	if now := s.now(); seen && now.Sub(session.LastSeenAt) > time.Minute {
		session.LastSeenAt, p.LastSeenAt = now, &now
	}
	return p.actor(environment.Credential{Kind: environment.CredentialSession, ID: id}), nil
}

func (p *savedPerson) actor(c environment.Credential) environment.Actor {
	return environment.Actor{Kind: environment.ActorPerson, ID: p.ID, Name: p.Name, InstanceAdmin: p.InstanceAdmin,
		Roles: p.copy().Roles, Credential: c}
}

// ActorOfKey implements identity.Store.
func (s *Store) ActorOfKey(_ context.Context, hash []byte) (environment.Actor, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.keys {
		if bytes.Equal(k.hash, hash) {
			return s.keyActor(k, true)
		}
	}
	return environment.Actor{}, identity.InvalidKey()
}

func (s *Store) keyActor(k *savedKey, used bool) (environment.Actor, error) {
	now := s.now()
	if !k.Usable(now) {
		return environment.Actor{}, identity.InvalidKey()
	}
	c := environment.Credential{Kind: environment.CredentialToken, ID: k.ID}
	var actor environment.Actor
	switch {
	case k.AgentID != nil:
		c.Kind = environment.CredentialKey
		a := s.agents[*k.AgentID]
		if a == nil || a.Status != environment.AgentActive {
			return environment.Actor{}, identity.InvalidKey()
		}
		actor = environment.Actor{Kind: environment.ActorAgent, ID: a.ID, Name: a.Name, CompanyID: a.CompanyID, Credential: c}
	default:
		p := s.people[*k.PersonID]
		if p == nil || !p.maySignIn() {
			return environment.Actor{}, identity.InvalidKey()
		}
		actor = p.actor(c)
		if used {
			p.LastSeenAt = &now
		}
	}
	if used && (k.LastUsedAt == nil || now.Sub(*k.LastUsedAt) > time.Minute) {
		k.LastUsedAt = &now
	}
	return actor, nil
}

// Counts implements identity.Store.
func (s *Store) Counts(_ context.Context, c environment.Credential) (environment.Actor, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Kind == environment.CredentialSession {
		return s.sessionActor(c.ID, false)
	}
	if k, ok := s.keys[c.ID]; ok && c.Kind != environment.CredentialNone {
		return s.keyActor(k, false)
	}
	return environment.Actor{}, identity.InvalidKey()
}

// wakePerson wakes the subject of each of a person's credentials, and wakeAgent
// of an agent's.
func (s *Store) wakePerson(id uuid.UUID) {
	for sid, session := range s.sessions {
		if session.PersonID == id {
			s.wake(sid)
		}
	}
	for kid, k := range s.keys {
		if k.PersonID != nil && *k.PersonID == id {
			s.wake(kid)
		}
	}
}

func (s *Store) wakeAgent(id uuid.UUID) {
	for kid, k := range s.keys {
		if k.AgentID != nil && *k.AgentID == id {
			s.wake(kid)
		}
	}
}

package environmenttest

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
)

type savedLink struct {
	environment.Link
	hash []byte
}

func (l *savedLink) copy() environment.Link {
	out := l.Link
	if out.Roles = maps.Clone(out.Roles); out.Roles == nil {
		out.Roles = map[uuid.UUID]environment.Role{}
	}
	return out
}

// CreateLink implements identity.Store.
func (s *Store) CreateLink(_ context.Context, l environment.Link, hash []byte, a environment.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.PersonID != nil {
		if _, err := s.person(*l.PersonID); err != nil {
			return err
		}
	}
	s.revokeLinks(func(have environment.Link) bool {
		return have.Kind == l.Kind && environment.NameKey(have.Email) == environment.NameKey(l.Email) ||
			l.PersonID != nil && meantFor(*l.PersonID)(have)
	})
	l.CreatedAt = s.orNow(l.CreatedAt)
	saved := &savedLink{Link: l, hash: slices.Clone(hash)}
	saved.Link = saved.copy()
	s.links[l.ID] = saved
	s.record(a)
	return nil
}

// revokeLinks revokes the open links that are meant.
func (s *Store) revokeLinks(meant func(environment.Link) bool) {
	now := s.now()
	for _, l := range s.links {
		if l.Open(now) && meant(l.Link) {
			l.RevokedAt = &now
		}
	}
}

// meantFor reports whether a link is for one person.
func meantFor(person uuid.UUID) func(environment.Link) bool {
	return func(l environment.Link) bool { return l.PersonID != nil && *l.PersonID == person }
}

func (s *Store) link(hash []byte) (*savedLink, error) {
	for _, l := range s.links {
		if bytes.Equal(l.hash, hash) {
			return l, nil
		}
	}
	return nil, identity.LinkNotFound()
}

// Link implements identity.Store.
func (s *Store) Link(_ context.Context, hash []byte) (environment.Link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.link(hash)
	if err != nil {
		return environment.Link{}, err
	}
	return l.copy(), nil
}

// Links implements identity.Store.
func (s *Store) Links(context.Context) ([]environment.Link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := []environment.Link{}
	for _, l := range s.links {
		if l.Open(s.now()) {
			open = append(open, l.copy())
		}
	}
	slices.SortFunc(open, func(a, b environment.Link) int { return newest(a.CreatedAt, b.CreatedAt, a.ID, b.ID) })
	return open, nil
}

// RevokeLink implements identity.Store.
func (s *Store) RevokeLink(_ context.Context, id uuid.UUID, a environment.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.links[id]
	if !ok {
		return identity.LinkNotFound()
	}
	if now := s.now(); l.Open(now) {
		l.RevokedAt = &now
		s.record(a)
	}
	return nil
}

// Redeem implements identity.Store.
func (s *Store) Redeem(_ context.Context, hash []byte, p environment.Person, passwordHash string, a environment.Activity) (environment.Person, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.link(hash)
	if err != nil {
		return environment.Person{}, err
	}
	now := s.now()
	if why := identity.WhyClosed(l.Link, !now.Before(l.ExpiresAt)); why != "" {
		return environment.Person{}, identity.LinkUsed(why)
	}
	id := p.ID
	l.UsedAt = &now
	if l.PersonID != nil {
		id, err = *l.PersonID, s.setPassword(*l.PersonID, passwordHash, nil)
	} else {
		err = s.insertPerson(p, l.copy(), passwordHash)
	}
	if err != nil {
		l.UsedAt = nil
		return environment.Person{}, err
	}
	s.record(a)
	return s.people[id].copy(), nil
}

// insertPerson makes a person with a link's address and rights.
func (s *Store) insertPerson(p environment.Person, l environment.Link, hash string) error {
	first := l.Kind == environment.LinkFirstAdmin
	if first && s.hasAdmin(uuid.Nil) {
		return identity.AdminExists()
	}
	if !first {
		p.Email = l.Email
	}
	if s.personOf(p.Email) != nil {
		return identity.EmailTaken()
	}
	p.InstanceAdmin, p.Roles = l.InstanceAdmin || first, l.Roles
	maps.DeleteFunc(p.Roles, func(id uuid.UUID, _ environment.Role) bool {
		_, err := s.company(id)
		return err != nil
	})
	p.CreatedAt = s.orNow(p.CreatedAt)
	p.UpdatedAt = p.CreatedAt
	s.people[p.ID] = &savedPerson{Person: p, hash: hash}
	return nil
}

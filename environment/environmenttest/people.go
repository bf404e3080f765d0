package environmenttest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
)

type savedPerson struct {
	environment.Person
	hash string
}

func (p *savedPerson) copy() environment.Person {
	out := p.Person
	if out.Roles = maps.Clone(out.Roles); out.Roles == nil {
		out.Roles = map[uuid.UUID]environment.Role{}
	}
	return out
}

func (p *savedPerson) maySignIn() bool { return p.DisabledAt == nil }

// person finds one; KindNotFound with code person_not_found.
func (s *Store) person(id uuid.UUID) (*savedPerson, error) {
	if p, ok := s.people[id]; ok {
		return p, nil
	}
	return nil, environment.NotFound("person")
}

func (s *Store) personOf(email string) *savedPerson {
	for _, p := range s.people {
		if environment.NameKey(p.Email) == environment.NameKey(email) {
			return p
		}
	}
	return nil
}

// PersonByEmail implements identity.Store.
func (s *Store) PersonByEmail(_ context.Context, email string) (environment.Person, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.personOf(email)
	if p == nil {
		return environment.Person{}, "", environment.NotFound("person")
	}
	return p.copy(), p.hash, nil
}

// Person implements identity.Store.
func (s *Store) Person(_ context.Context, id uuid.UUID) (environment.Person, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.person(id)
	if err != nil {
		return environment.Person{}, err
	}
	return p.copy(), nil
}

func byName(a, b environment.Person) int {
	return cmp.Or(cmp.Compare(environment.NameKey(a.Name), environment.NameKey(b.Name)), cmp.Compare(a.ID.String(), b.ID.String()))
}

// People implements identity.Store.
func (s *Store) People(_ context.Context, search string, limit int, cursor string) (environment.Page[environment.Person], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []environment.Person{}
	for _, p := range s.people {
		if contains(p.Name, search) || contains(p.Email, search) {
			all = append(all, p.copy())
		}
	}
	slices.SortFunc(all, byName)
	return page(all, limit, cursor)
}

// Members implements identity.Store.
func (s *Store) Members(_ context.Context, company uuid.UUID) ([]environment.Person, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []environment.Person{}
	for _, p := range s.people {
		if role, is := p.Roles[company]; is {
			member := p.copy()
			member.Roles = map[uuid.UUID]environment.Role{company: role}
			all = append(all, member)
		}
	}
	slices.SortFunc(all, byName)
	return all, nil
}

// UpdatePerson implements identity.Store.
func (s *Store) UpdatePerson(_ context.Context, id uuid.UUID, patch identity.PersonPatch, a environment.Activity) (environment.Person, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.person(id)
	if err != nil {
		return environment.Person{}, err
	}
	disabled := patch.Disabled != nil && *patch.Disabled
	if loses := disabled || patch.InstanceAdmin != nil && !*patch.InstanceAdmin; loses && p.InstanceAdmin && p.maySignIn() && !s.hasAdmin(id) {
		return environment.Person{}, identity.LastAdmin()
	}
	if patch.Email != nil {
		if other := s.personOf(*patch.Email); other != nil && other != p {
			return environment.Person{}, identity.EmailTaken()
		}
		p.Email = *patch.Email
	}
	if patch.Name != nil {
		p.Name = *patch.Name
	}
	if patch.InstanceAdmin != nil {
		p.InstanceAdmin = *patch.InstanceAdmin
	}
	now := s.now()
	p.UpdatedAt = now
	s.wakePerson(id)
	switch {
	case disabled:
		if p.DisabledAt == nil {
			p.DisabledAt = &now
		}
		s.endSessions(func(x *savedSession) bool { return x.PersonID == id })
		s.revokeLinks(meantFor(id))
	case patch.Disabled != nil:
		p.DisabledAt = nil
	}
	s.record(a)
	return p.copy(), nil
}

// hasAdmin reports whether somebody else than but is an admin who may sign in.
func (s *Store) hasAdmin(but uuid.UUID) bool {
	for id, p := range s.people {
		if id != but && p.InstanceAdmin && p.maySignIn() {
			return true
		}
	}
	return false
}

// HasAdmin implements identity.Store.
func (s *Store) HasAdmin(context.Context) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hasAdmin(uuid.Nil), nil
}

// SetRole implements identity.Store.
func (s *Store) SetRole(_ context.Context, person, company uuid.UUID, role environment.Role, a environment.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.person(person)
	if err != nil {
		return err
	}
	if _, err := s.company(company); err != nil {
		return err
	}
	p.Roles = p.copy().Roles
	if p.Roles[company] = role; role == "" {
		delete(p.Roles, company)
	}
	s.wakePerson(person)
	s.record(a)
	return nil
}

// Record implements identity.Store.
func (s *Store) Record(_ context.Context, a environment.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record(a)
	return nil
}

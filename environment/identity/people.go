package identity

import (
	"context"
	"slices"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// PersonPatch changes what is not nil.
type PersonPatch struct {
	Name          *string
	Email         *string
	InstanceAdmin *bool
	Disabled      *bool
}

// People lists everybody in whose name or address query is; "" for all.
func (s *Service) People(ctx context.Context, actor environment.Actor, query string, limit int, cursor string) (environment.Page[environment.Person], error) {
	if err := access.May(actor, access.ManagePeople, access.Instance); err != nil {
		return environment.Page[environment.Person]{}, err
	}
	return s.store.People(ctx, query, limit, cursor)
}

// Person returns one; KindNotFound with code person_not_found.
func (s *Service) Person(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Person, error) {
	if err := access.May(actor, access.ManagePeople, access.Instance); err != nil {
		return environment.Person{}, err
	}
	return s.store.Person(ctx, id)
}

// UpdatePerson changes a person; nobody can disable or demote the last admin
// (KindConflict with code last_admin). KindInvalid at the fields name and email,
// KindConflict with code email_taken. A patch that changes nothing writes
// nothing.
func (s *Service) UpdatePerson(ctx context.Context, actor environment.Actor, id uuid.UUID, p PersonPatch) (environment.Person, error) {
	if err := access.May(actor, access.ManagePeople, access.Instance); err != nil {
		return environment.Person{}, err
	}
	return s.update(ctx, actor, id, p)
}

// update does what UpdatePerson and Rename share; the actor may do it.
func (s *Service) update(ctx context.Context, actor environment.Actor, id uuid.UUID, p PersonPatch) (environment.Person, error) {
	p, err := p.clean()
	if err != nil {
		return environment.Person{}, err
	}
	old, err := s.store.Person(ctx, id)
	if err != nil {
		return environment.Person{}, err
	}
	changes := p.changes(old)
	if len(changes) == 0 {
		return old, nil
	}
	return s.store.UpdatePerson(ctx, id, p, s.entry(ctx, actor, "person.updated", "person", id, changes.Details()))
}

// clean returns the patch as it is stored, or what is wrong with it.
func (p PersonPatch) clean() (PersonPatch, error) {
	var fields []environment.FieldError
	tidy := func(field string, value *string, rule func(string) (string, string)) *string {
		if value == nil {
			return nil
		}
		clean, wrong := rule(*value)
		if wrong != "" {
			fields = append(fields, environment.FieldError{Field: field, Message: wrong})
		}
		return &clean
	}
	p.Name = tidy("name", p.Name, environment.CleanName)
	p.Email = tidy("email", p.Email, environment.CleanEmail)
	return p, environment.InvalidFields(fields)
}

// changes are what the patch alters in a person.
func (p PersonPatch) changes(old environment.Person) environment.Changes {
	c := environment.Changes{}
	if p.Name != nil {
		c.Add("name", old.Name, *p.Name)
	}
	if p.Email != nil {
		c.Add("email", old.Email, *p.Email)
	}
	if p.InstanceAdmin != nil {
		c.Add("isInstanceAdmin", old.InstanceAdmin, *p.InstanceAdmin)
	}
	if p.Disabled != nil {
		c.Add("disabled", old.DisabledAt != nil, *p.Disabled)
	}
	return c
}

// SignOutPerson ends every session of somebody, and revokes every token with
// tokens. It returns how many sessions.
func (s *Service) SignOutPerson(ctx context.Context, actor environment.Actor, id uuid.UUID, tokens bool) (int, error) {
	if err := access.May(actor, access.ManagePeople, access.Instance); err != nil {
		return 0, err
	}
	if _, err := s.store.Person(ctx, id); err != nil {
		return 0, err
	}
	// The sessions first: they could make tokens after the last one was revoked.
	entry := s.entry(ctx, actor, "person.signed_out", "person", id, map[string]any{"everywhere": true, "tokens": tokens})
	ended, err := s.store.EndSessions(ctx, id, nil, entry)
	if err != nil || !tokens {
		return ended, err
	}
	return ended, s.revokeAll(ctx, actor, id)
}

// revokeAll revokes the tokens of a person until none counts any more: one that is
// not revoked yet can make another.
func (s *Service) revokeAll(ctx context.Context, actor environment.Actor, person uuid.UUID) error {
	for {
		keys, err := s.store.KeysOfPerson(ctx, person)
		if err != nil {
			return err
		}
		keys = slices.DeleteFunc(keys, func(k environment.Key) bool { return k.RevokedAt != nil })
		if len(keys) == 0 {
			return nil
		}
		if err := s.revoke(ctx, actor, person, keys); err != nil {
			return err
		}
	}
}

func (s *Service) revoke(ctx context.Context, actor environment.Actor, person uuid.UUID, keys []environment.Key) error {
	for _, key := range keys {
		entry := s.entry(ctx, actor, "token.revoked", "person", person, map[string]any{"keyId": key.ID, "name": key.Name})
		if err := s.store.RevokeKey(ctx, person, key.ID, entry); err != nil {
			return err
		}
	}
	return nil
}

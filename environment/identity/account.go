package identity

import (
	"context"

	"berth/environment"
	"berth/environment/access"
)

// Account is one's own page.
type Account struct {
	Person   environment.Person
	Sessions []environment.Session
	Tokens   []environment.Key
}

// Account returns the actor's own account.
func (s *Service) Account(ctx context.Context, actor environment.Actor) (Account, error) {
	if err := access.May(actor, access.ManageAccount, access.Instance); err != nil {
		return Account{}, err
	}
	person, err := s.store.Person(ctx, actor.ID)
	if err != nil {
		return Account{}, err
	}
	sessions, err := s.store.Sessions(ctx, actor.ID)
	if err != nil {
		return Account{}, err
	}
	tokens, err := s.store.KeysOfPerson(ctx, actor.ID)
	return Account{person, sessions, tokens}, err
}

// Rename changes one's own name.
func (s *Service) Rename(ctx context.Context, actor environment.Actor, name string) (environment.Person, error) {
	if err := access.May(actor, access.ManageAccount, access.Instance); err != nil {
		return environment.Person{}, err
	}
	return s.update(ctx, actor, actor.ID, PersonPatch{Name: &name})
}

// ChangePassword asks for the old password (KindInvalid at the field
// currentPassword), ends every other session and keeps this one. Wrong ones are
// counted as at a sign-in: KindLimited with code rate_limited.
func (s *Service) ChangePassword(ctx context.Context, actor environment.Actor, old, next environment.Secret) error {
	if err := access.May(actor, access.ManageAccount, access.Instance); err != nil {
		return err
	}
	if wrong := environment.PasswordProblem(next); wrong != "" {
		return problem("newPassword", wrong)
	}
	if err := s.checkOwn(ctx, actor, old); err != nil {
		return err
	}
	hash, err := s.hash(ctx, next)
	if err != nil {
		return err
	}
	entry := s.entry(ctx, actor, "person.password_changed", "person", actor.ID, nil)
	if actor.Credential.Kind != environment.CredentialSession {
		return s.store.SetPassword(ctx, actor.ID, hash, nil, entry)
	}
	return s.store.SetPassword(ctx, actor.ID, hash, &actor.Credential.ID, entry)
}

// checkOwn compares a password with the actor's own.
func (s *Service) checkOwn(ctx context.Context, actor environment.Actor, password environment.Secret) error {
	person, err := s.store.Person(ctx, actor.ID)
	if err != nil {
		return err
	}
	hash, err := s.store.PasswordHash(ctx, actor.ID)
	if err != nil {
		return err
	}
	keys := accountKeys(person.Email, "signed in")
	ok, _, err := s.matches(ctx, proof{keys: keys, hash: hash, may: true, password: password})
	if err != nil {
		return err
	}
	if !ok {
		return problem("currentPassword", "This is not your password.")
	}
	return s.store.SignedIn(ctx, keys[:1])
}

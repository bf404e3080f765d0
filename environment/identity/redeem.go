package identity

import (
	"context"

	"berth/environment"
)

// Redemption is what somebody with a link enters.
type Redemption struct {
	Email    string
	Name     string
	Password environment.Secret
}

// Redeem uses a link: it makes the person, or sets the password of the one the
// link is for, and signs in. Email counts for the first admin only. Errors as
// OpenLink, KindInvalid at the fields email, name and password, and email_taken.
func (s *Service) Redeem(ctx context.Context, token string, in Redemption, from Client) (environment.Session, environment.Actor, error) {
	none, nobody := environment.Session{}, environment.Actor{}
	link, parsed, err := s.openLink(ctx, token)
	if err != nil {
		return none, nobody, err
	}
	person, err := s.personOf(ctx, link, in)
	if err != nil {
		return none, nobody, err
	}
	hash, err := s.hash(ctx, in.Password)
	if err != nil {
		return none, nobody, err
	}
	action, details := "person.joined", map[string]any{"linkId": link.ID, "kind": string(link.Kind), "address": from.Address}
	if link.Kind == environment.LinkPassword {
		action = "person.password_changed"
	}
	entry := s.entry(ctx, asActor(person), action, "person", person.ID, details)
	person, err = s.store.Redeem(ctx, parsed.Hash[:], person, hash, entry)
	if err != nil {
		return none, nobody, err
	}
	return s.begin(ctx, person, from)
}

// personOf is who a link makes, or whom it is for.
func (s *Service) personOf(ctx context.Context, link environment.Link, in Redemption) (environment.Person, error) {
	var fields []environment.FieldError
	note := func(field, wrong string) {
		if wrong != "" {
			fields = append(fields, environment.FieldError{Field: field, Message: wrong})
		}
	}
	if link.Kind == environment.LinkPassword {
		note("password", environment.PasswordProblem(in.Password))
		if err := environment.InvalidFields(fields); err != nil {
			return environment.Person{}, err
		}
		return s.store.Person(ctx, *link.PersonID)
	}
	now := s.now()
	person := environment.Person{
		ID: environment.NewID(), Email: link.Email, InstanceAdmin: link.InstanceAdmin, Roles: link.Roles, CreatedAt: now, UpdatedAt: now,
	}
	var wrong string
	if link.Kind == environment.LinkFirstAdmin {
		person.Email, wrong = environment.CleanEmail(in.Email)
		note("email", wrong)
	}
	person.Name, wrong = environment.CleanName(in.Name)
	note("name", wrong)
	note("password", environment.PasswordProblem(in.Password))
	return person, environment.InvalidFields(fields)
}

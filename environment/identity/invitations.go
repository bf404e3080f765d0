package identity

import (
	"context"
	"slices"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// Invitation is what an instance admin offers.
type Invitation struct {
	Email         string
	InstanceAdmin bool
	Roles         map[uuid.UUID]environment.Role
}

// Invite makes an invitation; its token is shown once. KindConflict with code
// email_taken for somebody who is here already; KindInvalid at the fields email
// and memberships. An earlier invitation of the same address counts no more.
func (s *Service) Invite(ctx context.Context, actor environment.Actor, in Invitation) (environment.Link, environment.Secret, error) {
	if err := access.May(actor, access.ManagePeople, access.Instance); err != nil {
		return environment.Link{}, environment.Secret{}, err
	}
	email, wrong := environment.CleanEmail(in.Email)
	if wrong != "" {
		return environment.Link{}, environment.Secret{}, problem("email", wrong)
	}
	if err := s.rolesProblem(ctx, in.Roles); err != nil {
		return environment.Link{}, environment.Secret{}, err
	}
	switch _, _, err := s.store.PersonByEmail(ctx, email); {
	case err == nil:
		return environment.Link{}, environment.Secret{}, EmailTaken()
	case environment.KindOf(err) != environment.KindNotFound:
		return environment.Link{}, environment.Secret{}, err
	}
	link := environment.Link{Kind: environment.LinkInvitation, Email: email, InstanceAdmin: in.InstanceAdmin, Roles: in.Roles}
	return s.makeLink(ctx, actor, link, s.opts.InvitationLife, "person.invited")
}

// rolesProblem checks the companies and roles of an invitation.
func (s *Service) rolesProblem(ctx context.Context, roles map[uuid.UUID]environment.Role) error {
	for company, role := range roles {
		if !slices.Contains(environment.Roles(), role) {
			return problem("memberships", roleWords)
		}
		if _, err := s.store.Company(ctx, company); err != nil {
			if environment.KindOf(err) == environment.KindNotFound {
				return problem("memberships", "There is no company "+company.String()+".")
			}
			return err
		}
	}
	return nil
}

// ResetLink makes a link with which a person sets a new password.
func (s *Service) ResetLink(ctx context.Context, actor environment.Actor, person uuid.UUID) (environment.Link, environment.Secret, error) {
	if err := access.May(actor, access.ManagePeople, access.Instance); err != nil {
		return environment.Link{}, environment.Secret{}, err
	}
	p, err := s.store.Person(ctx, person)
	if err != nil {
		return environment.Link{}, environment.Secret{}, err
	}
	if p.DisabledAt != nil {
		return environment.Link{}, environment.Secret{}, environment.Conflict("person_disabled", "This person is disabled.").
			Remedy("Enable the person first.")
	}
	link := environment.Link{Kind: environment.LinkPassword, Email: p.Email, PersonID: &p.ID}
	return s.makeLink(ctx, actor, link, s.opts.FirstAdminLife, "person.password_link_created")
}

// Links are the open ones.
func (s *Service) Links(ctx context.Context, actor environment.Actor) ([]environment.Link, error) {
	if err := access.May(actor, access.ManagePeople, access.Instance); err != nil {
		return nil, err
	}
	return s.store.Links(ctx)
}

// RevokeLink makes a link worthless; KindNotFound with code link_not_found.
func (s *Service) RevokeLink(ctx context.Context, actor environment.Actor, id uuid.UUID) error {
	if err := access.May(actor, access.ManagePeople, access.Instance); err != nil {
		return err
	}
	return s.store.RevokeLink(ctx, id, s.entry(ctx, actor, "person.link_revoked", "link", id, nil))
}

package identity

import (
	"context"
	"slices"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

const roleWords = "A role is owner, admin or member."

// Members are the people of a company with their roles there; KindNotFound with
// code company_not_found.
func (s *Service) Members(ctx context.Context, actor environment.Actor, company uuid.UUID) ([]environment.Person, error) {
	if err := access.May(actor, access.ManagePeople, access.Instance); err != nil {
		return nil, err
	}
	if _, err := s.store.Company(ctx, company); err != nil {
		return nil, err
	}
	return s.store.Members(ctx, company)
}

// SetRole gives somebody a role in a company; "" takes it away. KindInvalid at
// the field role; KindNotFound with code company_not_found or person_not_found.
// The role that somebody has already changes nothing.
func (s *Service) SetRole(ctx context.Context, actor environment.Actor, person, company uuid.UUID, role environment.Role) error {
	if err := access.May(actor, access.ManagePeople, access.Instance); err != nil {
		return err
	}
	if role != "" && !slices.Contains(environment.Roles(), role) {
		return problem("role", roleWords)
	}
	if _, err := s.store.Company(ctx, company); err != nil {
		return err
	}
	p, err := s.store.Person(ctx, person)
	if err != nil {
		return err
	}
	before := p.Roles[company]
	if before == role {
		return nil
	}
	c := environment.Changes{}
	c.Add("role", string(before), string(role))
	details := c.Details()
	details["name"] = p.Name
	entry := inCompany(s.entry(ctx, actor, "person.role_changed", "person", person, details), company)
	return s.store.SetRole(ctx, person, company, role, entry)
}

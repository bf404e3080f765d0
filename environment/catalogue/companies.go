package catalogue

import (
	"context"
	"slices"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// Companies returns the actor's companies, in the order of the store: every one
// for who is everywhere.
func (s *Service) Companies(ctx context.Context, actor environment.Actor) ([]environment.Company, error) {
	if err := access.May(actor, access.ReadCompanies, access.Instance); err != nil {
		return nil, err
	}
	all, err := s.store.Companies(ctx)
	if err != nil || actor.Everywhere() {
		return all, err
	}
	return slices.DeleteFunc(slices.Clone(all), func(c environment.Company) bool { return !actor.In(c.ID) }), nil
}

// Company returns one company; KindNotFound with code company_not_found.
func (s *Service) Company(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Company, error) {
	if err := access.May(actor, access.ReadCompanies, access.Company(id)); err != nil {
		return environment.Company{}, err
	}
	return s.store.Company(ctx, id)
}

// CreateCompany makes a company; KindConflict with code name_taken when a
// company has that name in whatever case.
func (s *Service) CreateCompany(ctx context.Context, actor environment.Actor, name string) (environment.Company, error) {
	if err := access.May(actor, access.ManageCompanies, access.Instance); err != nil {
		return environment.Company{}, err
	}
	clean, problem := environment.CleanName(name)
	if problem != "" {
		return environment.Company{}, environment.InvalidFields([]environment.FieldError{{Field: "name", Message: problem}})
	}
	now := s.now()
	company := environment.Company{ID: environment.NewID(), Name: clean, CreatedAt: now, UpdatedAt: now}
	entry := s.activity(ctx, actor, "company.created", "company", company.ID.String(), map[string]any{"name": clean})
	entry.CompanyID = &company.ID
	if err := s.store.CreateCompany(ctx, company, entry); err != nil {
		return environment.Company{}, atName(err)
	}
	return company, nil
}

// CompanyFor picks the company of a request: the given one if it exists, else
// the only one. It is nil, nil when there is none or several and required is
// false; KindInvalid with code company_required when required.
func (s *Service) CompanyFor(ctx context.Context, actor environment.Actor, given *uuid.UUID, required bool) (*environment.Company, error) {
	if given != nil {
		company, err := s.Company(ctx, actor, *given)
		if err != nil {
			return nil, err
		}
		return &company, nil
	}
	all, err := s.Companies(ctx, actor)
	switch {
	case err != nil:
		return nil, err
	case len(all) == 1:
		return &all[0], nil
	case !required:
		return nil, nil
	case len(all) == 0:
		return nil, environment.Invalid("company_required", "There is no company yet.").Remedy("Create a company first.")
	}
	return nil, environment.Invalid("company_required", "There are several companies; say which one is meant.").
		Remedy("Name the company: companyId in the address, --company on the command line.")
}

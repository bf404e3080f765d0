package environmenttest

import (
	"cmp"
	"context"
	"slices"

	"berth/environment"

	"github.com/google/uuid"
)

// Companies implements catalogue.Store: by name.
func (s *Store) Companies(context.Context) ([]environment.Company, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := append([]environment.Company{}, s.companies...)
	slices.SortFunc(all, func(a, b environment.Company) int {
		return cmp.Compare(environment.NameKey(a.Name), environment.NameKey(b.Name))
	})
	return all, nil
}

// CompaniesOf implements catalogue.Store.
func (s *Store) CompaniesOf(ctx context.Context, ids []uuid.UUID) ([]environment.Company, error) {
	all, err := s.Companies(ctx)
	return slices.DeleteFunc(all, func(c environment.Company) bool { return !slices.Contains(ids, c.ID) }), err
}

// amongst reports whether id is one of ids; nil stands for all.
func amongst(ids []uuid.UUID, id uuid.UUID) bool { return ids == nil || slices.Contains(ids, id) }

// Company implements catalogue.Store.
func (s *Store) Company(_ context.Context, id uuid.UUID) (environment.Company, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.company(id)
}

func (s *Store) company(id uuid.UUID) (environment.Company, error) {
	for _, c := range s.companies {
		if c.ID == id {
			return c, nil
		}
	}
	return environment.Company{}, environment.NotFound("company")
}

// CreateCompany implements catalogue.Store.
func (s *Store) CreateCompany(_ context.Context, c environment.Company, a environment.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, have := range s.companies {
		if environment.NameKey(have.Name) == environment.NameKey(c.Name) {
			return nameTaken()
		}
	}
	c.CreatedAt, c.UpdatedAt = s.orNow(c.CreatedAt), s.orNow(c.UpdatedAt)
	s.companies = append(s.companies, c)
	s.record(a)
	s.bump()
	return nil
}

func nameTaken() *environment.Error {
	e := environment.Conflict(environment.CodeNameTaken, "This name is taken.")
	e.Fields = []environment.FieldError{{Field: "name", Message: "This name is taken."}}
	return e
}

// Settings implements catalogue.Store.
func (s *Store) Settings(context.Context) (environment.Settings, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings, nil
}

// UpdateSettings implements catalogue.Store.
func (s *Store) UpdateSettings(_ context.Context, p environment.SettingsPatch, a environment.Activity) (environment.Settings, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.settings
	if p.EnableEnvironments != nil {
		next.EnableEnvironments = *p.EnableEnvironments
	}
	if p.EnableManagedSandboxOnly != nil {
		next.EnableManagedSandboxOnly = *p.EnableManagedSandboxOnly
	}
	if p.MaxRunTimeout != nil {
		next.MaxRunTimeout = *p.MaxRunTimeout
	}
	if p.DefaultEnvironmentID != nil {
		if err := s.mayBeDefault(*p.DefaultEnvironmentID); err != nil {
			return environment.Settings{}, err
		}
		id := *p.DefaultEnvironmentID
		next.DefaultEnvironmentID = &id
	}
	if p.ClearDefault {
		next.DefaultEnvironmentID = nil
	}
	next.Revision++
	next.UpdatedAt = s.now()
	s.settings = next
	s.record(a)
	s.bump()
	return next, nil
}

// mayBeDefault refuses what cannot be the default environment.
func (s *Store) mayBeDefault(id uuid.UUID) error {
	e, ok := s.environments[id]
	switch {
	case !ok:
		return environment.Invalid(environment.CodeEnvironmentNotFound, "There is no such environment.")
	case e.Status != environment.StatusActive:
		return environment.Invalid(environment.CodeEnvironmentInactive, "Only an active environment can be the default.").
			Remedy(environment.Remedy(environment.CodeEnvironmentInactive))
	}
	return nil
}

// CatalogueRevision implements catalogue.Store.
func (s *Store) CatalogueRevision(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision, nil
}

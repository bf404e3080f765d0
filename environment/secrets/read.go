package secrets

import (
	"context"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// List returns a company's secrets in whose name query is ("" for all); no value
// is ever among them.
func (s *Service) List(ctx context.Context, actor environment.Actor, company uuid.UUID, query string, limit int, cursor string) (environment.Page[environment.StoredSecret], error) {
	if err := access.May(actor, access.ManageSecrets, access.Company(company)); err != nil {
		return environment.Page[environment.StoredSecret]{}, err
	}
	return s.store.Secrets(ctx, company, query, limit, cursor)
}

// Get returns one; KindNotFound with code secret_not_found.
func (s *Service) Get(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.StoredSecret, Uses, error) {
	row, err := s.find(ctx, actor, id)
	if err != nil {
		return environment.StoredSecret{}, Uses{}, err
	}
	var uses Uses
	if uses.Versions, err = s.store.SecretVersions(ctx, id); err != nil {
		return environment.StoredSecret{}, Uses{}, err
	}
	uses.Bindings, err = s.store.SecretBindings(ctx, id)
	return row, uses, err
}

// Accesses says who opened it, newest first.
func (s *Service) Accesses(ctx context.Context, actor environment.Actor, id uuid.UUID, limit int, cursor string) (environment.Page[environment.SecretAccess], error) {
	if _, err := s.find(ctx, actor, id); err != nil {
		return environment.Page[environment.SecretAccess]{}, err
	}
	return s.store.SecretAccesses(ctx, id, limit, cursor)
}

// find reads a row that the actor may manage. Of another company it is what a
// secret that does not exist is.
func (s *Service) find(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.StoredSecret, error) {
	if err := access.May(actor, access.ManageSecrets, access.Somewhere); err != nil {
		return environment.StoredSecret{}, err
	}
	row, err := s.store.SharedSecret(ctx, id)
	if err != nil {
		return environment.StoredSecret{}, err
	}
	if err := access.May(actor, access.ManageSecrets, access.Company(*row.CompanyID)); err != nil {
		return environment.StoredSecret{}, access.Hide(err, environment.NotFound("secret"))
	}
	return row, nil
}

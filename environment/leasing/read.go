package leasing

import (
	"context"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// Get returns a lease, reduced for who may not see it whole; KindNotFound with
// code lease_not_found, also for another company's.
func (s *Service) Get(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Lease, error) {
	if err := access.May(actor, access.ReadLeases, access.Somewhere); err != nil {
		return environment.Lease{}, err
	}
	lease, err := s.store.Lease(ctx, id)
	if err != nil {
		return environment.Lease{}, err
	}
	if err := access.May(actor, access.ReadLeases, access.Company(lease.CompanyID)); err != nil {
		return environment.Lease{}, access.Hide(err, environment.NotFound("lease"))
	}
	return seen(actor, lease), nil
}

// List returns leases, newest use first: those of the actor's companies, and all
// for who is everywhere. A company of the filter that is not the actor's is
// KindNotFound with code company_not_found.
func (s *Service) List(ctx context.Context, actor environment.Actor, f Filter) (environment.Page[environment.Lease], error) {
	subject := access.Somewhere
	if f.CompanyID != nil {
		subject = access.Company(*f.CompanyID)
	}
	if err := access.May(actor, access.ReadLeases, subject); err != nil {
		return environment.Page[environment.Lease]{}, err
	}
	f.Companies = actor.Companies()
	page, err := s.store.Leases(ctx, f)
	for i, l := range page.Items {
		page.Items[i] = seen(actor, l)
	}
	return page, err
}

// seen is a lease as the actor may see it.
func seen(actor environment.Actor, l environment.Lease) environment.Lease {
	if access.Whole(actor) {
		return l
	}
	return l.Reduced()
}

package leasing

import (
	"context"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// Get returns a lease; KindNotFound with code lease_not_found.
func (s *Service) Get(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Lease, error) {
	if err := access.May(actor, access.ReadLeases, access.Instance); err != nil {
		return environment.Lease{}, err
	}
	return s.store.Lease(ctx, id)
}

// List returns leases, newest use first.
func (s *Service) List(ctx context.Context, actor environment.Actor, f Filter) (environment.Page[environment.Lease], error) {
	if err := access.May(actor, access.ReadLeases, access.Instance); err != nil {
		return environment.Page[environment.Lease]{}, err
	}
	return s.store.Leases(ctx, f)
}

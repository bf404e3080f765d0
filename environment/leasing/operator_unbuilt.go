package leasing

import (
	"context"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// Destroy is an operator's end of what a lease holds, kept or not. A lease whose
// holder is at work is KindConflict with code lease_in_use; one that has ended is
// returned as it is. It goes on when ctx ends.
func (s *Service) Destroy(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Lease, error) {
	return s.Release(ctx, actor, id)
}

// RetryCleanup tries the clean-up of a lease at once, also of one that waits for an
// operator; KindConflict with code lease_state_changed when it does not wait for
// clean-up. It goes on when ctx ends.
func (s *Service) RetryCleanup(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Lease, error) {
	return s.Release(ctx, actor, id)
}

// Usage is what of an environment's budget is used, for whoever may read
// environments: they are refused when it is used up.
func (s *Service) Usage(ctx context.Context, actor environment.Actor, environmentID uuid.UUID) (environment.Usage, error) {
	if err := access.May(actor, access.ReadEnvironments, access.Instance); err != nil {
		return environment.Usage{}, err
	}
	return s.store.Usage(ctx, environmentID)
}

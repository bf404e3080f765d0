package running

import (
	"context"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// Get returns a run as it is now; KindNotFound with code run_not_found.
func (s *Service) Get(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Run, error) {
	if err := access.May(actor, access.ReadRuns, access.Instance); err != nil {
		return environment.Run{}, err
	}
	return s.store.Run(ctx, id)
}

// List returns runs, newest first.
func (s *Service) List(ctx context.Context, actor environment.Actor, f Filter) (environment.Page[environment.Run], error) {
	if err := access.May(actor, access.ReadRuns, access.Instance); err != nil {
		return environment.Page[environment.Run]{}, err
	}
	return s.store.Runs(ctx, f)
}

// Sizes of one read; the next read goes on.
const (
	maxLogRead = 1 << 20
	maxEvents  = 500
)

// Log reads output from an offset.
func (s *Service) Log(ctx context.Context, actor environment.Actor, id uuid.UUID, offset int64, limit int) (environment.LogPage, error) {
	if err := access.May(actor, access.ReadRuns, access.Instance); err != nil {
		return environment.LogPage{}, err
	}
	if limit <= 0 || limit > maxLogRead {
		limit = maxLogRead
	}
	return s.store.Log(ctx, id, max(0, offset), limit)
}

// Events returns what happened to a run after a sequence number.
func (s *Service) Events(ctx context.Context, actor environment.Actor, id uuid.UUID, after int64) ([]environment.Event, error) {
	if err := access.May(actor, access.ReadRuns, access.Instance); err != nil {
		return nil, err
	}
	return s.store.Events(ctx, id, after, maxEvents)
}

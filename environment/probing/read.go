package probing

import (
	"context"
	"time"

	"berth/environment"
	"berth/environment/access"
	"berth/environment/crew"

	"github.com/google/uuid"
)

// lookAgain is how often Wait reads without a wake-up.
const lookAgain = 2 * time.Second

// Wait returns the probe when it has ended, or ctx's error.
func (s *Service) Wait(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Probe, error) {
	if err := access.May(actor, access.ReadEnvironments, access.Instance); err != nil {
		return environment.Probe{}, err
	}
	wake, unsubscribe := s.feed.Subscribe(id)
	defer unsubscribe()
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		p, err := s.store.Probe(ctx, id)
		if err == nil && p.State.Ended() || err != nil && !crew.Transient(err) {
			return p, err
		}
		select {
		case <-wake:
		case <-tick.C:
		case <-ctx.Done():
			return p, ctx.Err()
		}
	}
}

// Get returns a probe as it is now; KindNotFound with code probe_not_found.
func (s *Service) Get(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Probe, error) {
	if err := access.May(actor, access.ReadEnvironments, access.Instance); err != nil {
		return environment.Probe{}, err
	}
	return s.store.Probe(ctx, id)
}

// History returns the probes of a saved environment, newest first.
func (s *Service) History(ctx context.Context, actor environment.Actor, environmentID uuid.UUID, limit int, cursor string) (environment.Page[environment.Probe], error) {
	if err := access.May(actor, access.ReadEnvironments, access.Instance); err != nil {
		return environment.Page[environment.Probe]{}, err
	}
	return s.store.Probes(ctx, Filter{EnvironmentID: environmentID, Limit: limit, Cursor: cursor})
}

// maxEvents is how many events one read returns; the next read goes on.
const maxEvents = 1000

// Events returns what happened to a probe after a sequence number.
func (s *Service) Events(ctx context.Context, actor environment.Actor, id uuid.UUID, after int64) ([]environment.Event, error) {
	if err := access.May(actor, access.ReadEnvironments, access.Instance); err != nil {
		return nil, err
	}
	return s.store.Events(ctx, id, after, maxEvents)
}

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

// find reads a probe that the actor may do this with, whole; another company's
// is not found, and so is one of no company for who is not everywhere.
func (s *Service) find(ctx context.Context, actor environment.Actor, action access.Action, id uuid.UUID) (environment.Probe, error) {
	if err := access.May(actor, action, access.Somewhere); err != nil {
		return environment.Probe{}, err
	}
	p, err := s.store.Probe(ctx, id)
	if err != nil {
		return environment.Probe{}, err
	}
	if err := access.May(actor, action, access.Owned(p.CompanyID)); err != nil {
		return environment.Probe{}, access.Hide(err, environment.NotFound("probe"))
	}
	return p, nil
}

// seen is a probe as the actor may see it.
func seen(actor environment.Actor, p environment.Probe) environment.Probe {
	if access.Whole(actor) {
		return p
	}
	return p.Reduced()
}

// Wait returns the probe when it has ended, or ctx's error.
func (s *Service) Wait(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Probe, error) {
	if err := access.May(actor, access.ReadProbes, access.Somewhere); err != nil {
		return environment.Probe{}, err
	}
	wake, unsubscribe := s.feed.Subscribe(id)
	defer unsubscribe()
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for {
		p, err := s.find(ctx, actor, access.ReadProbes, id)
		if err == nil && p.State.Ended() || err != nil && !crew.Transient(err) {
			return seen(actor, p), err
		}
		select {
		case <-wake:
		case <-tick.C:
		case <-ctx.Done():
			return seen(actor, p), ctx.Err()
		}
	}
}

// Get returns a probe as it is now, reduced for who may not see it whole;
// KindNotFound with code probe_not_found.
func (s *Service) Get(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Probe, error) {
	p, err := s.find(ctx, actor, access.ReadProbes, id)
	return seen(actor, p), err
}

// History returns the probes of a saved environment, newest first: those for the
// actor's companies, and all for who is everywhere.
func (s *Service) History(ctx context.Context, actor environment.Actor, environmentID uuid.UUID, limit int, cursor string) (environment.Page[environment.Probe], error) {
	if err := access.May(actor, access.ReadProbes, access.Somewhere); err != nil {
		return environment.Page[environment.Probe]{}, err
	}
	page, err := s.store.Probes(ctx, Filter{EnvironmentID: environmentID, Companies: actor.Companies(), Limit: limit, Cursor: cursor})
	for i, p := range page.Items {
		page.Items[i] = seen(actor, p)
	}
	return page, err
}

// maxEvents is how many events one read returns; the next read goes on.
const maxEvents = 1000

// Events returns what happened to a probe after a sequence number, reduced as
// Get is.
func (s *Service) Events(ctx context.Context, actor environment.Actor, id uuid.UUID, after int64) ([]environment.Event, error) {
	if access.Whole(actor) { // whose probe it is does not matter
		return s.store.Events(ctx, id, after, maxEvents)
	}
	if _, err := s.find(ctx, actor, access.ReadProbes, id); err != nil {
		return nil, err
	}
	events, err := s.store.Events(ctx, id, after, maxEvents)
	for i, e := range events {
		events[i] = e.Reduced()
	}
	return events, err
}

package running

import (
	"context"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// find reads a run that the actor may do this with, whole; another company's is
// not found, nor is, by an agent, one that is not its own.
func (s *Service) find(ctx context.Context, actor environment.Actor, action access.Action, id uuid.UUID) (environment.Run, error) {
	if err := access.May(actor, action, access.Somewhere); err != nil {
		return environment.Run{}, err
	}
	run, err := s.store.Run(ctx, id)
	if err != nil {
		return environment.Run{}, err
	}
	if err := access.May(actor, action, access.Run(run)); err != nil {
		return environment.Run{}, access.Hide(err, environment.NotFound("run"))
	}
	return run, nil
}

// seen is a run as the actor may see it.
func seen(actor environment.Actor, r environment.Run) environment.Run {
	if access.Whole(actor) {
		return r
	}
	return r.Reduced()
}

// Get returns a run as it is now, reduced for who may not see where it ran;
// KindNotFound with code run_not_found.
func (s *Service) Get(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Run, error) {
	run, err := s.find(ctx, actor, access.ReadRuns, id)
	return seen(actor, run), err
}

// List returns runs, newest first: those of the actor's companies, of an agent
// its own, and all for who is everywhere. A company of the filter that is not the
// actor's is KindNotFound with code company_not_found.
func (s *Service) List(ctx context.Context, actor environment.Actor, f Filter) (environment.Page[environment.Run], error) {
	subject := access.Somewhere
	if f.CompanyID != nil {
		subject = access.Company(*f.CompanyID)
	}
	if err := access.May(actor, access.ReadRuns, subject); err != nil {
		return environment.Page[environment.Run]{}, err
	}
	f.Companies = actor.Companies()
	if actor.Kind == environment.ActorAgent {
		f.AgentID = &actor.ID
	}
	page, err := s.store.Runs(ctx, f)
	for i, r := range page.Items {
		page.Items[i] = seen(actor, r)
	}
	return page, err
}

// Sizes of one read; the next read goes on.
const (
	maxLogRead = 1 << 20
	maxEvents  = 500
)

// Log reads output from an offset.
func (s *Service) Log(ctx context.Context, actor environment.Actor, id uuid.UUID, offset int64, limit int) (environment.LogPage, error) {
	if err := s.mayRead(ctx, actor, id); err != nil {
		return environment.LogPage{}, err
	}
	if limit <= 0 || limit > maxLogRead {
		limit = maxLogRead
	}
	return s.store.Log(ctx, id, max(0, offset), limit)
}

// Events returns what happened to a run after a sequence number, reduced as Get
// is.
func (s *Service) Events(ctx context.Context, actor environment.Actor, id uuid.UUID, after int64) ([]environment.Event, error) {
	if err := s.mayRead(ctx, actor, id); err != nil {
		return nil, err
	}
	events, err := s.store.Events(ctx, id, after, maxEvents)
	if err != nil || access.Whole(actor) {
		return events, err
	}
	for i, e := range events {
		events[i] = e.Reduced()
	}
	return events, nil
}

// mayRead asks before what belongs to a run is read. Who may read them all needs
// no look at the row.
func (s *Service) mayRead(ctx context.Context, actor environment.Actor, id uuid.UUID) error {
	if access.May(actor, access.ReadRuns, access.Instance) == nil {
		return nil
	}
	_, err := s.find(ctx, actor, access.ReadRuns, id)
	return err
}

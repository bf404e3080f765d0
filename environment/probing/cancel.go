package probing

import (
	"context"
	"sync"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// Cancel asks a probe to stop, wherever it runs. Cancelling what has ended is
// not an error.
func (s *Service) Cancel(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Probe, error) {
	p, err := s.find(ctx, actor, access.ManageEnvironment, id)
	if err != nil || p.State.Ended() {
		return p, err
	}
	if err := s.store.AskCancel(ctx, id, actor.Name); err != nil {
		return environment.Probe{}, err
	}
	return s.store.Probe(ctx, id)
}

// watchCancel cancels a probe's work when somebody asked for it on any server.
// The returned function ends the watch.
func (s *Service) watchCancel(ctx context.Context, id uuid.UUID, cancel context.CancelCauseFunc) func() {
	ctx, stop := context.WithCancel(ctx)
	wake, unsubscribe := s.feed.Subscribe(id)
	var watch sync.WaitGroup
	watch.Go(func() {
		defer unsubscribe()
		for {
			asked, err := s.store.CancelAsked(ctx, id)
			if err != nil && ctx.Err() == nil {
				s.log.Warn("ask whether a probe is cancelled", "probe", id, "err", err)
			}
			if asked {
				cancel(errCancelled)
				return
			}
			select {
			case <-wake:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		stop()
		watch.Wait()
	}
}

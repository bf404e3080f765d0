package running

import (
	"context"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// Cancel asks for the end of a run, wherever it runs. One that waits in the
// queue ends at once; any other is cancelling until its work is gone from the
// target. Cancelling what has ended changes nothing.
func (s *Service) Cancel(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Run, error) {
	run, err := s.find(ctx, actor, access.CancelRun, id)
	if err != nil || run.Status.Ended() || run.CancelBy != nil {
		return seen(actor, run), err
	}
	entry := s.entry(ctx, actor, "run.cancelled", run)
	run, err = s.store.UpdateRun(ctx, id, uuid.Nil, func(r *environment.Run) error {
		if r.Status.Ended() || r.CancelBy != nil {
			return nil
		}
		r.CancelBy = &actor.Name
		if r.Status != environment.RunQueued {
			r.Status = environment.RunCancelling
			return nil
		}
		now := s.now()
		r.Status, r.FinishedAt, r.Input = environment.RunCancelled, &now, nil
		leave(r, now)
		return nil
	}, &entry)
	return seen(actor, run), err
}

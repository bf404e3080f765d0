package running

import (
	"context"
	"time"

	"berth/environment"
	"berth/environment/crew"
)

// doubt is how long a write whose answer did not come may take effect yet.
const doubt = 15 * time.Second

// disown ends a run whose row may be there although its asker was told that it
// could not be written. Nothing of it has begun; the asker may have asked again.
func (s *Service) disown(ctx context.Context, run environment.Run) {
	sleep(ctx, doubt)
	err := crew.Retry(ctx, crew.Transient, func(ctx context.Context) error {
		_, err := s.store.UpdateRun(ctx, run.ID, s.opts.Owner, func(r *environment.Run) error {
			if r.Status != environment.RunQueued {
				return nil
			}
			now := s.now()
			r.Status, r.FinishedAt, r.Input = environment.RunFailed, &now, nil
			r.Failure = &environment.Failure{Code: "database_unavailable", Remediation: "Start the run again.",
				Message: "The database went away while the run was written down, so it was refused. Nothing was started."}
			leave(r, now)
			return nil
		})
		return err
	})
	switch {
	case err == nil:
		s.log.Info("a run that was refused had been written, and was ended", "run", run.ID)
	case environment.KindOf(err) != environment.KindNotFound:
		s.log.Warn("end a run that was refused", "run", run.ID, "err", err)
	}
}

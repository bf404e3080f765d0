package running

import (
	"context"
	"time"

	"berth/environment"
	"berth/environment/crew"
)

// Removing what a run left on a target that was out of reach at its end.
const (
	remainsGrace = 15 * time.Second // of one try, for the target to come back
	remainsPause = 5 * time.Second  // after the first try; it doubles
	remainsMost  = 5 * time.Minute  // between two tries
	remainsLimit = 10 * time.Minute // of one try
	remainsHold  = 15 * time.Minute // for which a try's server owns the row
	remainsBatch = 8                // tries of this server at a time
)

// keepRemains notes that a run may leave something on its target, before its end
// is noted: whichever server lives then goes on from the row.
func (w *worker) keepRemains(ctx context.Context) error {
	run := w.run
	return crew.Retry(ctx, crew.Transient, func(ctx context.Context) error { return w.store.KeepRemains(ctx, run.ID, *run.LeaseID) })
}

// clearRemains begins a try for each of what runs left that is due and that no
// living server is at.
func (s *Service) clearRemains(ctx context.Context) error {
	s.mu.Lock()
	room := remainsBatch - s.clearing
	s.mu.Unlock()
	if room <= 0 {
		return nil
	}
	due, err := s.store.ClaimRemains(ctx, s.opts.Owner, room, remainsHold)
	for _, x := range due {
		s.mu.Lock()
		s.clearing++
		s.mu.Unlock()
		begun := s.crew.Go(func(ctx context.Context) {
			defer s.cleared()
			s.clear(ctx, x)
		})
		if !begun { // this server stops; the next one claims the row
			s.cleared()
		}
	}
	return err
}

func (s *Service) cleared() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clearing--
}

// clear is one try to remove what a run left: whatever still lives, and the
// folder with its output. When this server stops meanwhile, the row, whose owner
// is dead then, is the next one's at once.
func (s *Service) clear(ctx context.Context, x environment.Remains) {
	err := s.remove(ctx, x)
	if ctx.Err() != nil {
		return
	}
	if err == nil || environment.CodeOf(err) == notFound || environment.CodeOf(err) == "run_not_found" {
		s.log.Info("nothing of a lost run is left on its target", "run", x.RunID)
		s.forget(ctx, x, func(ctx context.Context) error { return s.store.DropRemains(ctx, x.RunID, s.opts.Owner) })
		return
	}
	s.forget(ctx, x, func(ctx context.Context) error {
		givenUp, late := s.store.PostponeRemains(ctx, x.RunID, s.opts.Owner, remainsWait(x.Tries))
		if givenUp {
			s.log.Warn("what a lost run left stays on its target", "run", x.RunID, "tries", x.Tries+1, "err", err)
		}
		return late
	})
}

// forget stores what became of a try. Where that fails for good the row is due
// again when it is not held any more.
func (s *Service) forget(ctx context.Context, x environment.Remains, write func(context.Context) error) {
	if err := crew.Retry(ctx, crew.Transient, write); err != nil && ctx.Err() == nil {
		s.log.Warn("note a try to clean up after a run", "run", x.RunID, "err", err)
	}
}

// remainsWait is the pause after a try, when tries failed before it.
func remainsWait(tries int) time.Duration {
	wait := remainsPause
	for range tries {
		if wait *= 2; wait >= remainsMost {
			return remainsMost
		}
	}
	return wait
}

// remove takes a run's work up only to end it. It is nil or not_found when
// nothing is left.
func (s *Service) remove(ctx context.Context, x environment.Remains) error {
	held, let := context.WithCancelCause(context.WithoutCancel(ctx))
	defer let(nil)
	defer context.AfterFunc(ctx, func() { let(environment.ErrDetach) })()
	limited, cancel := context.WithTimeoutCause(held, remainsLimit, environment.ErrDetach)
	defer cancel()
	run, err := s.store.Run(limited, x.RunID)
	if err != nil {
		return err
	}
	execer, err := environment.Ability[environment.Execer](s.drivers, run.Key())
	if err != nil {
		return err
	}
	received, err := s.store.Received(limited, run.ID)
	if err != nil {
		return err
	}
	ref, err := s.reopen(limited, run, x.LeaseID)
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	close(stop)
	order := environment.Exec{
		Marker: run.ID.String(), Argv: run.Command, Grace: remainsGrace, Resume: true, Received: received, Stop: stop,
		OnStart: func(environment.Process, environment.HostFacts, string) error { return nil },
		Output:  func(environment.Stream, int64, []byte) error { return nil },
		Settle:  func(environment.ExecResult) error { return nil },
	}
	_, err = crew.Call(limited, callLimit, func() (environment.ExecResult, error) { return execer.Exec(limited, ref, order) })
	return err
}

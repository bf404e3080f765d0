package running

import (
	"context"
	"errors"
	"time"

	"berth/environment"
	"berth/environment/crew"
)

// Removing what a run left on a target that was out of reach at its end.
const (
	remainsGrace = 15 * time.Second // of one try, for the target to come back
	remainsPause = 5 * time.Second  // after the first try; it doubles
	remainsMost  = 5 * time.Minute  // between two tries
	remainsFor   = 24 * time.Hour   // then the target's own tidying has its turn
)

// remains removes what a run left on its target, as soon as that can be reached
// again: whatever still lives, and the folder with its output. The run's row has
// ended, so no server takes the work up any more. It ends with ctx at the latest.
func (s *Service) remains(ctx context.Context, execer environment.Execer, ref environment.Ref, run environment.Run) {
	held, let := context.WithCancelCause(context.WithoutCancel(ctx))
	defer let(nil)
	defer context.AfterFunc(ctx, func() { let(environment.ErrDetach) })()
	var received map[environment.Stream]int64
	err := crew.Retry(held, crew.Transient, func(ctx context.Context) (err error) {
		received, err = s.store.Received(ctx, run.ID)
		return err
	})
	if err != nil {
		s.log.Warn("what a lost run left stays on its target", "run", run.ID, "target", run.Target, "err", err)
		return
	}
	stop := make(chan struct{})
	close(stop)
	order := environment.Exec{
		Marker: run.ID.String(), Argv: run.Command, Grace: remainsGrace, Resume: true, Received: received, Stop: stop,
		OnStart: func(environment.Process, environment.HostFacts, string) error { return nil },
		Output:  func(environment.Stream, int64, []byte) error { return nil },
		Settle:  func(environment.ExecResult) error { return nil },
	}
	until := time.Now().Add(remainsFor)
	for pause := remainsPause; ; pause = min(2*pause, remainsMost) {
		_, err := crew.Call(held, callLimit, func() (environment.ExecResult, error) { return execer.Exec(held, ref, order) })
		switch {
		case err == nil, environment.CodeOf(err) == notFound:
			s.log.Info("nothing of a lost run is left on its target", "run", run.ID, "target", run.Target)
			return
		case ctx.Err() != nil, errors.Is(err, environment.ErrDetach), !time.Now().Before(until):
			s.log.Warn("what a lost run left stays on its target", "run", run.ID, "target", run.Target, "err", err)
			return
		}
		sleep(ctx, pause)
	}
}

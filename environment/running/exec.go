package running

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/environment"
	"berth/environment/crew"

	"github.com/google/uuid"
)

// How long a target may take, beyond what the run itself may.
const (
	startLimit = 60 * time.Second // from the lease to the command's start, beyond the grace
	overdue    = 10 * time.Second // after the timeout, until Berth ends the command itself
	haltLimit  = 30 * time.Second // of silence after a halt, until the work is given up
	callLimit  = 10 * time.Second // for a driver to return once its context ended

	deliverLimit = 30 * time.Minute // after a halt, for what the command had written

	notFound = "not_found" // code of a driver that is to take up what is not there
)

// exec starts the command, or takes it up, and sees it to its end.
func (w *worker) exec(ctx context.Context, ref environment.Ref, g goods, resume bool) error {
	execer, err := environment.Ability[environment.Execer](w.drivers, w.run.Key())
	if err != nil {
		return w.fail(ctx, err)
	}
	received, err := w.received(ctx, resume)
	if err != nil {
		return err
	}
	out := w.collect(ctx, received, masked(g))
	defer out.close()
	result, err := w.call(ctx, execer, ref, g, resume, received, out)
	switch {
	case ctx.Err() != nil || errors.Is(err, environment.ErrDetach):
		// What is held back stays on the target and is delivered again.
		out.drain(ctx)
		return fmt.Errorf("let go: %w", environment.ErrDetach)
	case err != nil && resume && environment.CodeOf(err) == notFound && w.run.Process == nil && w.haltReason() == nil:
		out.close()
		return w.exec(ctx, ref, g, false)
	case err != nil:
		return w.endWithout(ctx, out, err, resume, ref)
	case !settled(w.run):
		err = w.settle(ctx, out, result)
	}
	if err != nil {
		return err
	}
	return w.wrapUp(ctx, ref.Spec)
}

// endWithout ends a run of whose end the driver could not say anything. What is
// left of it on the target is removed when that can be.
func (w *worker) endWithout(ctx context.Context, out *collector, cause error, resumed bool, ref environment.Ref) error {
	// What ran in a sandbox goes, or stands still, with that.
	if environment.BorrowedHost(w.run.Driver) && w.run.Process != nil && environment.CodeOf(cause) != notFound {
		if err := w.keepRemains(ctx); err != nil {
			return err
		}
	}
	if err := w.recordError(ctx, out, cause, resumed); err != nil {
		return err
	}
	return w.wrapUp(ctx, ref.Spec)
}

func (w *worker) received(ctx context.Context, resume bool) (map[environment.Stream]int64, error) {
	received := map[environment.Stream]int64{environment.Stdout: 0, environment.Stderr: 0}
	if !resume {
		return received, nil
	}
	err := crew.Retry(ctx, crew.Transient, func(ctx context.Context) (err error) {
		received, err = w.store.Received(ctx, w.run.ID)
		return err
	})
	return received, err
}

// onStart stores the identity of the work before any of its output.
func (w *worker) onStart(ctx context.Context, g goods, p environment.Process, host environment.HostFacts, dir string) error {
	kept := cargo{Mask: maskOf(g)}
	err := w.sealed(w.run.ID, kept, func(input []byte) error { return w.noteStart(ctx, input, p, host, dir) })
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (w *worker) noteStart(ctx context.Context, input []byte, p environment.Process, host environment.HostFacts, dir string) error {
	return w.update(ctx, func(r *environment.Run) error {
		now := w.now()
		if r.Host == nil || environment.BorrowedHost(r.Driver) { // a sandbox's was told when it was made
			noteHost(r, host)
		}
		r.Process, r.WorkingDir, r.Input = &p, &dir, input
		if r.StartedAt == nil {
			deadline := now.Add(time.Duration(r.TimeoutSec) * time.Second)
			r.StartedAt, r.Deadline = &now, &deadline
		}
		if r.Status == environment.RunPreparing {
			r.Status = environment.RunRunning
		}
		enter(r, phaseRun, now)
		return nil
	})
}

// sealed does a write of what the run keeps; again, sealed with the key of then,
// when the master key was turned over meanwhile.
func (s *Service) sealed(run uuid.UUID, kept cargo, write func([]byte) error) error {
	for attempt := 1; ; attempt++ {
		input, err := s.seal(run, kept)
		if err != nil {
			return err
		}
		if err := write(input); attempt == environment.KeyTurns || environment.CodeOf(err) != environment.CodeKeysetChanged {
			return err
		}
	}
}

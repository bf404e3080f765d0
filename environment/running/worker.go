package running

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"berth/environment"
	"berth/environment/crew"
)

// errTakenOver is why a worker lets go of a run that is not this server's, or
// nobody's, any more. To a driver it is the same as a stop of the server.
var errTakenOver = fmt.Errorf("somebody else looks after the run: %w", environment.ErrDetach)

// worker does one run, from whatever state its row is in to its end.
type worker struct {
	*Service
	run environment.Run // as this worker last stored it

	early *anticipation // of a run that has just been written; begin takes it

	wentBack bool // the row is behind what this worker stored; see behind

	let  context.CancelCauseFunc // lets go of the work
	done chan struct{}           // closed when this worker has ended

	mu     sync.Mutex // held by what the driver calls
	closed bool       // the driver has returned or was given up

	once   sync.Once
	halted chan struct{} // closed by halt
	reason error         // why; set before halted is closed
}

// Why work is ended before its command has.
var (
	errCancel  = errors.New("somebody cancelled the run")
	errOverdue = errors.New("the timeout is over and the target did not end the command")
	errNoStart = errors.New("the command was not started in time")
)

// work does a run until it has ended or this server lets go of it. early is what
// was anticipated of it, if anything was.
func (s *Service) work(ctx context.Context, run environment.Run, early *anticipation) {
	// The work outlives ctx by what letting go takes, and learns why.
	held, let := context.WithCancelCause(context.WithoutCancel(ctx))
	defer let(nil)
	defer context.AfterFunc(ctx, func() { let(environment.ErrDetach) })()
	w := &worker{Service: s, run: run, early: early, halted: make(chan struct{}), let: let, done: make(chan struct{})}
	defer func() {
		if w.early != nil {
			w.early.dismiss()
		}
	}()
	alone := s.enlist(w)
	defer s.discharge(w)
	if !alone {
		// The one before may have brought the run further after it was read.
		if err := w.reread(held); err != nil {
			s.log.Error("run given up", "run", run.ID, "err", err)
			return
		}
	}
	unwatch := w.watch(held)
	defer unwatch()
	err := w.steps(held)
	for w.wentBack && held.Err() == nil {
		if err = w.again(held); err == nil {
			err = w.steps(held)
		}
	}
	if err != nil && w.run.LeaseID != nil {
		// The run's next worker holds it; without one it goes when its time is over.
		s.leases.LetGo(*w.run.LeaseID)
	}
	switch {
	case err == nil:
	case held.Err() != nil || errors.Is(err, environment.ErrDetach):
		s.log.Info("run left to the next server", "run", run.ID, "why", err)
	default:
		s.log.Error("run given up", "run", run.ID, "err", err)
	}
}

// enlist makes w the one worker of its run in this process. A server that was
// taken for dead may get a run back while its first worker has not noticed yet:
// that one lets go before the new one begins, and enlist returns false.
func (s *Service) enlist(w *worker) (alone bool) {
	s.mu.Lock()
	earlier := s.active[w.run.ID]
	s.active[w.run.ID] = w
	s.mu.Unlock()
	if earlier == nil {
		return true
	}
	earlier.let(errTakenOver)
	<-earlier.done
	return false
}

// reread brings the worker's run to what its row says.
func (w *worker) reread(ctx context.Context) error {
	return crew.Retry(ctx, crew.Transient, func(ctx context.Context) error {
		run, err := w.store.Run(ctx, w.run.ID)
		if err == nil {
			w.run = run
		}
		return err
	})
}

func (s *Service) discharge(w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active[w.run.ID] == w {
		delete(s.active, w.run.ID)
	}
	close(w.done)
}

// steps goes on from the run's state.
func (w *worker) steps(ctx context.Context) error {
	switch {
	case w.run.Status.Ended():
		return nil
	case w.run.LeaseID == nil && w.run.Status == environment.RunCancelling:
		return w.end(ctx)
	case w.run.LeaseID == nil:
		return w.begin(ctx)
	case settled(w.run):
		ref, err := w.reopen(ctx, w.run, *w.run.LeaseID)
		if err != nil { // secrets gone: a release makes do without
			w.log.Warn("open a lease again", "run", w.run.ID, "err", err)
		}
		return w.wrapUp(ctx, ref.Spec)
	}
	return w.resume(ctx)
}

// halt ends the work: what runs on the target is stopped, what has not begun
// does not begin.
func (w *worker) halt(reason error) {
	w.once.Do(func() {
		w.reason = reason
		close(w.halted)
	})
}

// haltReason is why the work is being ended; nil while it is not.
func (w *worker) haltReason() error {
	select {
	case <-w.halted:
		return w.reason
	default:
		return nil
	}
}

// untilHalted returns a context that ends with ctx or when the work is halted.
func (w *worker) untilHalted(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		select {
		case <-w.halted:
			cancel(w.reason)
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel(nil)
		group.Wait()
	}
}

// watchPause is the least time between two reads of a run's row: every chunk of
// output wakes its readers. watchLook is when it is read without a wake-up: a
// server that takes a run over changes nothing that wakes anybody.
const (
	watchPause = 100 * time.Millisecond
	watchLook  = 5 * time.Second
)

// watch halts the work when somebody asked for its end on any server, and lets
// go of it when it is not this server's any more. The returned function ends
// the watch.
func (w *worker) watch(ctx context.Context) func() {
	ctx, stop := context.WithCancel(ctx)
	wake, unsubscribe := w.feed.Subscribe(w.run.ID)
	id := w.run.ID
	var group sync.WaitGroup
	group.Go(func() {
		defer unsubscribe()
		for ctx.Err() == nil {
			run, err := w.store.Run(ctx, id)
			switch {
			case err != nil && environment.KindOf(err) != environment.KindNotFound:
				if ctx.Err() == nil {
					w.log.Warn("look at a run", "run", id, "err", err)
				}
			case err != nil, run.Owner != w.opts.Owner, run.Status.Ended():
				w.let(errTakenOver)
				return
			case run.CancelBy != nil:
				w.halt(errCancel)
			}
			sleep(ctx, watchPause)
			look := time.NewTimer(watchLook)
			select {
			case <-wake:
			case <-look.C:
			case <-ctx.Done():
			}
			look.Stop()
		}
	})
	return func() {
		stop()
		group.Wait()
	}
}

// update stores a change of the run, however long the database is away, until
// ctx ends. errTakenOver when the run has ended or is somebody else's now.
func (w *worker) update(ctx context.Context, change func(*environment.Run) error, activity ...*environment.Activity) error {
	again := func(err error) bool { return !errors.Is(err, environment.ErrDetach) && crew.Transient(err) }
	err := crew.Retry(ctx, again, func(ctx context.Context) error {
		run, err := w.store.UpdateRun(ctx, w.run.ID, w.opts.Owner, func(r *environment.Run) error {
			if r.Status.Ended() {
				return errTakenOver
			}
			if behind(*r, w.run) {
				return errWentBack
			}
			return change(r)
		}, activity...)
		if err == nil {
			w.run = run
		}
		return err
	})
	w.wentBack = w.wentBack || errors.Is(err, errWentBack)
	switch environment.CodeOf(err) {
	case "run_taken_over", "run_not_found":
		return errTakenOver
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

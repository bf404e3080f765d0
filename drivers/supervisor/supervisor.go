// Package supervisor runs a command on a target through nothing but a /bin/sh,
// so that it outlives the connection and the server, loses no output, and leaves
// nothing behind.
//
// On the target a run has a folder, ~/.berth/runs/<marker>. A small supervisor
// in POSIX sh lives beside the command: it spools both outputs there, notes the
// exact identity and the exit, and ends the whole group on a stop, on a timeout,
// and when no server has renewed it for a grace. A session follows the spool,
// carries the renewals, and is dialled again when it breaks; the offsets of what
// was delivered say where it goes on.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"berth/drivers/shell"
	"berth/environment"
)

const (
	maxSpool       = 1 << 30          // bytes of output on the target
	maxRenewal     = 15 * time.Second // between two renewals
	preludeTimeout = 30 * time.Second // for the first word of a session
	lastWords      = 10 * time.Second // for a session to clean up and end
	firstBackoff   = 50 * time.Millisecond
	maxBackoff     = 2 * time.Second
)

// Exec does what environment.Execer says, over sessions that open gives. It
// never has more than one session at a time.
func Exec(ctx context.Context, open shell.Opener, ref environment.Ref, e environment.Exec) (environment.ExecResult, error) {
	return run(ctx, open, ref, e, options{shell: "/bin/sh", spool: maxSpool, backoff: firstBackoff})
}

// options are what only tests change.
type options struct {
	shell   string
	spool   int64
	backoff time.Duration // before the first new try
}

// work is one call of Exec.
type work struct {
	options
	open shell.Opener
	exec environment.Exec
	dir  string

	letGo    func()        // leaves the work to its grace
	stopped  chan struct{} // closed when the work shall end
	stopOnce sync.Once

	known    bool // OnStart was called
	settled  bool // Settle was called and content
	complete bool // all output was delivered and the result settled
	final    *record

	outputs  sync.Mutex // one call of Output at a time
	received map[environment.Stream]int64

	mu      sync.Mutex
	failure error     // of OnStart or Output
	renewed time.Time // when the target last heard from us
}

func run(ctx context.Context, open shell.Opener, ref environment.Ref, e environment.Exec, o options) (environment.ExecResult, error) {
	if err := check(e); err != nil {
		return environment.ExecResult{}, err
	}
	if e.Grace <= 0 {
		e.Grace = environment.RunGrace
	}
	w := &work{options: o, open: open, exec: e, dir: folder(ref, e), stopped: make(chan struct{}), renewed: time.Now(),
		received: map[environment.Stream]int64{
			environment.Stdout: e.Received[environment.Stdout],
			environment.Stderr: e.Received[environment.Stderr],
		}}
	// The work ends by a word to the target, so the session outlives a
	// cancellation; life ends when the call returns or the server lets go.
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	w.letGo = func() { end(environment.ErrDetach) }
	switch {
	case errors.Is(context.Cause(ctx), environment.ErrDetach):
		w.letGo()
	case ctx.Err() != nil, closed(e.Stop):
		w.stop()
	}
	var steering sync.WaitGroup
	steering.Go(func() { w.steer(ctx, life, end) })
	result, err := w.persist(life)
	end(nil)
	steering.Wait()
	return result, err
}

// steer turns what the caller wants into a stop or a detachment.
func (w *work) steer(ctx, life context.Context, end context.CancelCauseFunc) {
	stop := w.exec.Stop
	for {
		select {
		case <-stop:
			w.stop()
			stop = nil
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), environment.ErrDetach) {
				end(environment.ErrDetach)
				return
			}
			w.stop()
			return
		case <-life.Done():
			return
		}
	}
}

func (w *work) stop() { w.stopOnce.Do(func() { close(w.stopped) }) }

func (w *work) stopping() bool { return closed(w.stopped) }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// errBroken is a session that ended before the run did.
var errBroken = errors.New("the session ended before the run")

// persist goes through sessions until the run has ended and its output is
// delivered, or the grace since the last renewal is over.
func (w *work) persist(life context.Context) (environment.ExecResult, error) {
	backoff := w.backoff
	for sent := w.exec.Resume; ; {
		s := w.newSession(!w.exec.Resume && !w.known, sent)
		err := s.attend(life)
		if errors.Is(context.Cause(life), environment.ErrDetach) || errors.Is(w.problem(), environment.ErrDetach) {
			return environment.ExecResult{}, environment.ErrDetach
		}
		sent = sent || s.sent
		switch {
		case !sent && w.stopping():
			return environment.ExecResult{Ended: "not_started", Proven: true}, nil
		case err == nil:
			return w.result()
		case w.complete && (s.final || w.overdue()):
			return w.result() // only the folder may be left
		case s.final || !sent:
			return environment.ExecResult{}, err
		case w.overdue():
			return environment.ExecResult{}, environment.Unavailable(environment.CodeConnectionLost,
				fmt.Sprintf("The connection broke and did not come back within %s.", w.exec.Grace)).
				Remedy(environment.Remedy(environment.CodeConnectionLost)).Because(err)
		}
		if s.spoke {
			backoff = w.backoff
		}
		select {
		case <-time.After(min(backoff, time.Until(w.deadline()))):
		case <-life.Done():
			return environment.ExecResult{}, environment.ErrDetach
		}
		backoff = min(2*backoff, maxBackoff)
	}
}

// deadline is when the work has ended by itself if no renewal comes through.
func (w *work) deadline() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.renewed.Add(w.exec.Grace)
}

func (w *work) overdue() bool { return !time.Now().Before(w.deadline()) }

func (w *work) renew(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.renewed = at
}

// fail notes the first error of the caller's functions and ends the work, or
// leaves it to its grace when that is what the error says.
func (w *work) fail(err error) {
	w.mu.Lock()
	if w.failure == nil {
		w.failure = err
	}
	w.mu.Unlock()
	if errors.Is(err, environment.ErrDetach) {
		w.letGo()
		return
	}
	w.stop()
}

// settle hands over the result before the run folder goes. Its error, and one
// that lets go of the work, means that the folder stays.
func (w *work) settle() error {
	if err := w.problem(); errors.Is(err, environment.ErrDetach) {
		return err
	}
	result, err := w.result()
	if err != nil || w.exec.Settle == nil || w.settled {
		return nil // there is no result to hand over, or it was
	}
	if err := w.exec.Settle(result); err != nil {
		w.fail(err)
		return err
	}
	w.settled = true
	return nil
}

func (w *work) problem() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failure
}

// result is the end of a run whose record arrived.
func (w *work) result() (environment.ExecResult, error) {
	result, err := w.final.result()
	if failure := w.problem(); failure != nil {
		err = failure
	}
	return result, err
}

// deliver hands bytes on and counts them. After a failure of the caller's it
// only counts, so that the end of the work is still seen.
func (w *work) deliver(stream environment.Stream, data []byte) {
	w.outputs.Lock()
	defer w.outputs.Unlock()
	if w.exec.Output != nil && w.problem() == nil {
		if err := w.exec.Output(stream, w.received[stream], data); err != nil {
			w.fail(err)
		}
	}
	w.received[stream] += int64(len(data))
}

// offsets are the positions up to which each stream was delivered.
func (w *work) offsets() map[environment.Stream]int64 {
	w.outputs.Lock()
	defer w.outputs.Unlock()
	return maps.Clone(w.received)
}

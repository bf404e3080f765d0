package running

import (
	"context"
	"sync/atomic"
	"time"

	"berth/environment"
	"berth/environment/crew"
)

// call is the driver's part. Work that was halted and does not end is given up.
func (w *worker) call(ctx context.Context, execer environment.Execer, ref environment.Ref, g goods, resume bool, received map[environment.Stream]int64, out *collector) (environment.ExecResult, error) {
	w.mu.Lock()
	w.closed = false
	w.mu.Unlock()
	ctx, abandon := context.WithCancelCause(ctx)
	defer abandon(nil)
	heard := &hearing{}
	halted, done := w.untilHalted(ctx)
	defer done()
	defer context.AfterFunc(halted, func() { w.giveUp(ctx, heard, abandon) })()
	clock := w.startClock()
	defer clock.stop()
	order := environment.Exec{
		Marker: w.run.ID.String(), Argv: w.run.Command, Env: g.vars, Stdin: g.cargo.Stdin, Grace: w.opts.Grace,
		Timeout: time.Duration(w.run.TimeoutSec) * time.Second, Resume: resume, Received: received, Stop: w.halted,
		Output: func(stream environment.Stream, offset int64, data []byte) error {
			defer heard.now()()
			return out.take(ctx, stream, offset, data)
		},
		Settle: w.guarded(func(result environment.ExecResult) error {
			defer heard.now()()
			return w.settle(ctx, out, result)
		}),
	}
	order.OnStart = func(p environment.Process, host environment.HostFacts, dir string) error {
		return w.guarded(func(environment.ExecResult) error {
			if err := w.onStart(ctx, g, p, host, dir); err != nil {
				return err
			}
			clock.started(w.run.Deadline.Sub(w.now()))
			return nil
		})(environment.ExecResult{})
	}
	if w.run.Cwd != nil {
		order.Dir = *w.run.Cwd
	}
	result, err := crew.Call(ctx, callLimit, func() (environment.ExecResult, error) { return execer.Exec(ctx, ref, order) })
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	return result, err
}

// giveUp abandons work that was halted when its driver has been silent for too
// long. One that still delivers what the command wrote is waited for: that may
// be more than a database takes in a moment.
func (w *worker) giveUp(ctx context.Context, heard *hearing, abandon context.CancelCauseFunc) {
	began := time.Now()
	for ctx.Err() == nil && time.Since(began) < deliverLimit {
		left := haltLimit - time.Since(heard.last(began))
		if left <= 0 {
			break
		}
		sleep(ctx, left)
	}
	abandon(w.haltReason())
}

// hearing is when a driver last called, with output or a result.
type hearing struct {
	calls atomic.Int32 // under way: it is Berth that takes its time
	at    atomic.Int64 // Unix nanoseconds
}

// now notes a call; the function that it returns notes the call's end.
func (h *hearing) now() func() {
	h.calls.Add(1)
	return func() {
		h.at.Store(time.Now().UnixNano())
		h.calls.Add(-1)
	}
}

// last is the time of the last call, at least since.
func (h *hearing) last(since time.Time) time.Time {
	if h.calls.Load() > 0 {
		return time.Now()
	}
	if at := time.Unix(0, h.at.Load()); at.After(since) {
		return at
	}
	return since
}

// guarded keeps a driver that was given up from changing the run any more.
func (w *worker) guarded(do func(environment.ExecResult) error) func(environment.ExecResult) error {
	return func(result environment.ExecResult) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.closed {
			return environment.ErrDetach
		}
		return do(result)
	}
}

// clock halts the work when its command does not start in time, or runs on
// although its timeout is long over.
type clock struct{ start, end *time.Timer }

func (w *worker) startClock() clock {
	c := clock{
		start: time.AfterFunc(w.opts.Grace+startLimit, func() { w.halt(errNoStart) }),
		end:   time.AfterFunc(environment.MaxRunTimeout, func() { w.halt(errOverdue) }),
	}
	c.end.Stop()
	if w.run.Deadline != nil {
		c.started(max(0, w.run.Deadline.Sub(w.now())) + w.opts.Grace)
	}
	return c
}

func (c clock) started(left time.Duration) {
	c.start.Stop()
	c.end.Reset(max(0, left) + overdue)
}

func (c clock) stop() {
	c.start.Stop()
	c.end.Stop()
}

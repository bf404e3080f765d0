package running_test

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// target is a machine on which commands run on, whatever becomes of servers.
type target struct {
	mu      sync.Mutex
	works   map[string]*work
	starts  map[string]int // by marker
	command func(environment.Exec) []step
	// refuse makes Acquire or Exec fail; broken ones panic.
	refuseAcquire, refuseExec error
	refuseEnd                 error // in place of the result
	unreachable               bool
	unproven                  bool
	deaf                      bool // does not hear Stop nor timeouts
	acquireTime               time.Duration
	released                  int
	readied, dismissed        []uuid.UUID      // runs that Ready was told of, and whose time was over
	seen                      environment.Exec // the last order
	boxes                     map[string]bool  // sandboxes by id; false: stopped
	boxed                     []environment.Spec
	refuseBox                 error
	releaseBox                func(environment.Ref) (environment.Receipt, error) // instead of destroying it
	releaseTime               time.Duration
	changed                   chan struct{}
}

// step is what a command does after a pause.
type step struct {
	after  time.Duration
	stream environment.Stream
	data   string
	result *environment.ExecResult // ends the command
}

func out(after time.Duration, data string) step {
	return step{after: after, stream: environment.Stdout, data: data}
}

func fails(after time.Duration, data string) step {
	return step{after: after, stream: environment.Stderr, data: data}
}

func exit(after time.Duration, code int) step {
	return step{after: after, result: &environment.ExecResult{ExitCode: code, Ended: "exit", Proven: true}}
}

func newTarget(steps ...step) *target {
	return &target{works: map[string]*work{}, boxes: map[string]bool{}, starts: map[string]int{}, changed: make(chan struct{}),
		command: func(environment.Exec) []step { return steps }}
}

// work is one supervised command.
type work struct {
	spool    map[environment.Stream][]byte
	order    []environment.LogChunk // as it was written
	attached int
	most     int       // attached at once
	alone    time.Time // since when nobody renews it
	result   *environment.ExecResult
	stop     chan string   // how it is to end
	over     chan struct{} // closed with the result
}

// end is called under the target's lock.
func (w *work) end(r environment.ExecResult) {
	if w.result == nil {
		w.result = &r
		close(w.over)
	}
}

func (t *target) broadcast() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// await returns when ready says so under the lock, or false when one of the
// channels is closed.
func (t *target) await(ready func() bool, ends ...<-chan struct{}) bool {
	never := make(chan struct{})
	for len(ends) < 3 {
		ends = append(ends, never)
	}
	for {
		t.mu.Lock()
		ok, changed := ready(), t.changed
		t.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-ends[0]:
			return false
		case <-ends[1]:
			return false
		case <-ends[2]:
			return false
		}
	}
}

func (t *target) left() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	alive := 0
	for _, w := range t.works {
		if w.result == nil {
			alive++
		}
	}
	return alive
}

// last is the newest order, started how often a run's command was started.
func (t *target) last() environment.Exec {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen
}

func (t *target) started(run uuid.UUID) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.starts[run.String()]
}

func (t *target) set(change func(*target)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(t)
	t.broadcast()
}

// start runs a command until it ends, is stopped, or was left alone too long.
func (t *target) start(order environment.Exec) *work {
	w := &work{spool: map[environment.Stream][]byte{}, stop: make(chan string, 3), over: make(chan struct{}), alone: time.Now()}
	t.works[order.Marker] = w
	t.starts[order.Marker]++
	steps := t.command(order)
	end := func(r environment.ExecResult) { t.set(func(*target) { w.end(r) }) }
	go func() { // the supervisor's watch
		began := time.Now()
		for tick := time.NewTicker(time.Second); ; <-tick.C {
			t.mu.Lock()
			over, alone, deaf := w.result != nil, w.attached == 0 && time.Since(w.alone) > order.Grace, t.deaf
			t.mu.Unlock()
			switch {
			case over:
				return
			case alone:
				end(environment.ExecResult{ExitCode: 137, Signal: "KILL", Ended: "grace", Proven: true})
			case time.Since(began) >= order.Timeout && !deaf:
				end(environment.ExecResult{ExitCode: 143, Signal: "TERM", Ended: "timeout", Proven: !t.unproven})
			}
		}
	}()
	go func() {
		for _, s := range steps {
			pause := time.NewTimer(s.after)
			select {
			case <-pause.C:
			case <-w.over:
				return
			case how := <-w.stop:
				end(environment.ExecResult{ExitCode: 143, Signal: "TERM", Ended: how, Proven: !t.unproven})
				return
			}
			if s.result != nil {
				result := *s.result
				result.Proven = result.Proven && !t.unproven
				end(result)
				return
			}
			t.set(func(*target) {
				if w.result == nil {
					w.order = append(w.order, environment.LogChunk{Stream: s.stream, StreamOffset: int64(len(w.spool[s.stream])), Data: []byte(s.data)})
					w.spool[s.stream] = append(w.spool[s.stream], s.data...)
				}
			})
		}
	}()
	return w
}

// link is the driver as one server has it. When the server is killed its link
// is cut: the target hears nothing more of it.
type link struct {
	*target
	cut chan struct{}
}

func (l *link) Name() string { return "ssh" }

func (l *link) Describe(json.RawMessage) string { return "u@h:22" }

func (l *link) Ready(spec environment.Spec) func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readied = append(l.readied, *spec.RunID)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.dismissed = append(l.dismissed, *spec.RunID)
	}
}

func (l *link) Acquire(ctx context.Context, spec environment.Spec) (environment.Ref, error) {
	l.mu.Lock()
	refuse, pause := l.refuseAcquire, l.acquireTime
	l.mu.Unlock()
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return environment.Ref{}, ctx.Err()
	case <-l.cut:
		<-ctx.Done()
		return environment.Ref{}, ctx.Err()
	}
	return environment.Ref{Driver: "ssh", ProviderID: "ssh://u@h:22/w", Dir: "/w", Host: environment.HostFacts{Name: "h", BootID: "b"}, Config: spec.Config}, refuse
}

func (l *link) Release(context.Context, environment.Ref, environment.Disposition) (environment.Receipt, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.released++
	return environment.Receipt{Outcome: "released"}, nil
}

func (l *link) Read(_ context.Context, ref environment.Ref, path string) (environment.WorkspaceEntry, error) {
	return environment.WorkspaceEntry{Path: ref.Dir + "/" + path}, nil
}

// attach finds or starts the work of an order.
func (l *link) attach(order environment.Exec) (*work, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = order
	if l.refuseExec != nil {
		return nil, l.refuseExec
	}
	w, ok := l.works[order.Marker]
	switch {
	case !ok && order.Resume:
		return nil, environment.NewError(environment.KindNotFound, "not_found", "Nothing of that name runs there.")
	case !ok:
		w = l.start(order)
	}
	w.attached++
	w.most = max(w.most, w.attached)
	return w, nil
}

func (l *link) Exec(ctx context.Context, _ environment.Ref, order environment.Exec) (environment.ExecResult, error) {
	none := environment.ExecResult{}
	if !l.await(func() bool { return !l.unreachable }, ctx.Done(), l.cut) {
		<-ctx.Done()
		return none, context.Cause(ctx)
	}
	w, err := l.attach(order)
	if err != nil {
		return none, err
	}
	detach := sync.OnceFunc(func() {
		l.set(func(*target) {
			w.attached--
			w.alone = time.Now()
		})
	})
	left := make(chan struct{})
	defer close(left)
	defer detach()
	go func() { // nobody renews it once the server is gone, returned or not
		select {
		case <-l.cut:
			detach()
		case <-left:
		}
	}()
	if err := order.OnStart(environment.Process{Pid: 7, Marker: order.Marker}, environment.HostFacts{Name: "h", BootID: "b"}, "/w"); err != nil {
		return none, l.gone(ctx, err)
	}
	if err := l.deliver(ctx, w, order); err != nil {
		return none, l.gone(ctx, err)
	}
	if l.refuseEnd != nil {
		return none, l.refuseEnd
	}
	if err := order.Settle(*w.result); err != nil {
		return none, l.gone(ctx, err)
	}
	l.set(func(*target) { delete(l.works, order.Marker) })
	return *w.result, nil
}

// gone is what Exec returns when its server lets go, dies or refuses.
func (l *link) gone(ctx context.Context, err error) error {
	select {
	case <-l.cut:
		<-ctx.Done()
		return context.Cause(ctx)
	default:
		return err
	}
}

// deliver hands over the spool until the work has ended.
func (l *link) deliver(ctx context.Context, w *work, order environment.Exec) error {
	at := map[environment.Stream]int64{environment.Stdout: order.Received[environment.Stdout], environment.Stderr: order.Received[environment.Stderr]}
	next := 0
	for {
		var ended bool
		ready := func() bool {
			ended = w.result != nil
			return next < len(w.order) || ended
		}
		l.mu.Lock()
		stop := order.Stop
		if l.deaf {
			stop = nil
		}
		l.mu.Unlock()
		if !l.await(ready, ctx.Done(), stop, l.cut) {
			select {
			case <-l.cut:
				return context.Canceled
			case <-ctx.Done():
				return context.Cause(ctx)
			default:
				select {
				case w.stop <- "stopped":
				default:
				}
				if !l.await(func() bool { return w.result != nil }, ctx.Done(), l.cut) {
					return context.Cause(ctx)
				}
				continue
			}
		}
		l.mu.Lock()
		chunks := w.order[next:]
		next = len(w.order)
		l.mu.Unlock()
		for _, c := range chunks {
			if skip := at[c.Stream] - c.StreamOffset; skip > 0 {
				c.Data = c.Data[min(skip, int64(len(c.Data))):]
				c.StreamOffset = at[c.Stream]
			}
			if len(c.Data) == 0 {
				continue
			}
			if err := order.Output(c.Stream, c.StreamOffset, append([]byte(nil), c.Data...)); err != nil {
				return err
			}
			at[c.Stream] = c.StreamOffset + int64(len(c.Data))
		}
		if ended && len(chunks) == 0 {
			return nil
		}
	}
}

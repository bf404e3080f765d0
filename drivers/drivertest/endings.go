package drivertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/environment"
)

// family starts a child in the group and one that leaves it and says so. mark
// makes their command lines findable.
func family(mark string) []string {
	return []string{"sh", "-c", fmt.Sprintf("sleep %[1]s1 & setsid sh -c 'echo ready; exec sleep %[1]s2' & wait", mark)}
}

// stubborn is a family in which nobody obeys TERM.
func stubborn(mark string) []string {
	return []string{"sh", "-c", fmt.Sprintf("trap '' TERM; sleep %[1]s1 & setsid sh -c 'echo ready; exec sleep %[1]s2' & wait", mark)}
}

// stopWhen returns a capture that closes the returned channel at a word.
func stopWhen(t *testing.T, word string) (*capture, chan struct{}) {
	stop := make(chan struct{})
	c := newCapture(t)
	closed := false
	c.seen = func(_ environment.Stream, all string) {
		if strings.Contains(all, word) && !closed {
			closed = true
			close(stop)
		}
	}
	return c, stop
}

// gone checks that the work ended as said, in time, with nothing left.
func (x *target) gone(t *testing.T, o outcome, marker, mark, ended string, began time.Time, limit time.Duration) {
	t.Helper()
	if took := time.Since(began); took > limit {
		t.Errorf("it took %s, want at most %s", took, limit)
	}
	if o.err != nil || o.result.Ended != ended || !o.result.Proven {
		t.Errorf("got %+v, want ended %q, proven", o, ended)
	}
	if o.out != "ready\n" { // also proves that output comes before the end
		t.Errorf("got output %q, want ready", o.out)
	}
	if left := x.commandsWith(t, mark); left != "" {
		t.Errorf("still on the target:\n%s", left)
	}
	if left := x.left(t, marker); left != "" {
		t.Errorf("run folder left: %s", left)
	}
}

func (x *target) stopEnds(t *testing.T) {
	for round := range x.rounds {
		mark, marker, argv := fmt.Sprintf("43210%d", round), environment.NewID().String(), family
		if round == x.rounds-1 {
			argv = stubborn
		}
		c, stop := stopWhen(t, "ready")
		began := time.Now()
		o := x.runWith(t.Context(), t, environment.Exec{Marker: marker, Argv: argv(mark), Stop: stop}, c)
		x.gone(t, o, marker, mark, "stopped", began, 8*time.Second)
		if o.result.Leftover < 1 {
			t.Errorf("leftover: got %d, want the one that left the group", o.result.Leftover)
		}
	}
}

func (x *target) timeoutEnds(t *testing.T) {
	marker := environment.NewID().String()
	began := time.Now()
	o := x.run(t, environment.Exec{Marker: marker, Argv: family("432200"), Timeout: 2 * time.Second})
	x.gone(t, o, marker, "432200", "timeout", began, 10*time.Second)
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("it was ended after %s, before its time", took)
	}
}

func (x *target) cancelEnds(t *testing.T) {
	marker := environment.NewID().String()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, stop := stopWhen(t, "ready")
	go func() {
		<-stop
		cancel()
	}()
	began := time.Now()
	o := x.runWith(ctx, t, environment.Exec{Marker: marker, Argv: family("432300")}, c)
	x.gone(t, o, marker, "432300", "stopped", began, 8*time.Second)
}

func (x *target) noDaemonStays(t *testing.T) {
	marker := environment.NewID().String()
	began := time.Now()
	o := x.run(t, environment.Exec{Marker: marker, Argv: []string{"sh", "-c",
		"sleep 432401 & setsid sleep 432402 >/dev/null 2>&1 </dev/null & echo ready"}})
	x.gone(t, o, marker, "43240", "exit", began, 8*time.Second)
	if o.result.ExitCode != 0 {
		t.Errorf("exit code: got %d, want 0", o.result.ExitCode)
	}
}

func (x *target) detachAndResume(t *testing.T) {
	e := environment.Exec{Marker: environment.NewID().String(),
		Argv: []string{"sh", "-c", "i=0; while [ $i -lt 15 ]; do i=$((i+1)); echo line $i; echo noise $i >&2; sleep 0.1; done; exit 7"}}
	c, ready := stopWhen(t, "line 5\n")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-ready
		cancel(environment.ErrDetach)
	}()
	o := x.runWith(ctx, t, e, c)
	if !errors.Is(o.err, environment.ErrDetach) {
		t.Fatalf("got %+v, want ErrDetach", o)
	}
	c.seen = nil
	e.Resume, e.Received = true, c.received()
	started := 0
	e.OnStart = func(environment.Process, environment.HostFacts, string) error { started++; return nil }
	o = x.runWith(t.Context(), t, e, c)
	var out, errOut strings.Builder
	for i := range 15 {
		fmt.Fprintf(&out, "line %d\n", i+1)
		fmt.Fprintf(&errOut, "noise %d\n", i+1)
	}
	if o.err != nil || o.result.ExitCode != 7 || o.result.Ended != "exit" || started != 1 {
		t.Errorf("taken up: got %+v, %d starts", o.result, started)
	}
	if o.out != out.String() || o.errOut != errOut.String() {
		t.Errorf("output has a gap or a double:\n%s%s", o.out, o.errOut)
	}
	if left := x.left(t, e.Marker); left != "" {
		t.Errorf("run folder left: %s", left)
	}
}

// settles checks that a result is handed over before the target forgets it: a
// caller that could not store it gets both output and result once more.
func (x *target) settles(t *testing.T) {
	e := environment.Exec{Marker: environment.NewID().String(), Argv: []string{"sh", "-c", "echo whole; exit 7"}}
	full := errors.New("the disk is full")
	c := newCapture(t)
	var seen []environment.ExecResult
	e.Settle = func(r environment.ExecResult) error {
		if got := c.streams[environment.Stdout].String(); got != "whole\n" {
			t.Errorf("settled with %q, want all output first", got)
		}
		seen = append(seen, r)
		return full
	}
	if o := x.runWith(t.Context(), t, e, c); !errors.Is(o.err, full) {
		t.Errorf("got %+v, want the error of Settle", o)
	}
	e.Resume = true
	e.Settle = func(r environment.ExecResult) error { seen = append(seen, r); return nil }
	if o := x.run(t, e); o.err != nil || o.out != "whole\n" || o.result.ExitCode != 7 {
		t.Errorf("again: got %+v, want output and result once more", o)
	}
	if len(seen) != 2 || seen[0].ExitCode != 7 || seen[1].ExitCode != 7 || !seen[0].Proven {
		t.Errorf("settled with %+v, want the result each time", seen)
	}
	if left := x.left(t, e.Marker); left != "" {
		t.Errorf("run folder left: %s", left)
	}
}

// outputLetsGo checks that a caller which may not store any more, because
// another server took the run over, does not end its work.
func (x *target) outputLetsGo(t *testing.T) {
	e := environment.Exec{Marker: environment.NewID().String(), Argv: []string{"sh", "-c", "echo one; sleep 1; echo two; exit 7"}}
	refuse := newCapture(t)
	refuse.refusal = fmt.Errorf("not ours any more: %w", environment.ErrDetach)
	if o := x.runWith(t.Context(), t, e, refuse); !errors.Is(o.err, environment.ErrDetach) {
		t.Errorf("got %+v, want ErrDetach", o)
	}
	e.Resume = true
	if o := x.run(t, e); o.err != nil || o.out != "one\ntwo\n" || o.result.ExitCode != 7 || o.result.Ended != "exit" {
		t.Errorf("taken up: got %+v, want the work to have gone on", o)
	}
}

func (x *target) nothingToResume(t *testing.T) {
	o := x.run(t, environment.Exec{Argv: []string{"echo", "x"}, Resume: true})
	if codeOf(o.err) != "not_found" || o.out != "" {
		t.Errorf("got %+v, want code not_found", o)
	}
}

// startTwice starts a run whose first session was let go of, as a server does
// that died before it knew whether the start went through.
func (x *target) startTwice(t *testing.T) {
	e := environment.Exec{Marker: environment.NewID().String(), Argv: []string{"sh", "-c", "echo started; sleep 1; echo done"}}
	c, ready := stopWhen(t, "started")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-ready
		cancel(environment.ErrDetach)
	}()
	if o := x.runWith(ctx, t, e, c); !errors.Is(o.err, environment.ErrDetach) {
		t.Fatalf("got %+v, want ErrDetach", o)
	}
	o := x.run(t, e)
	if o.err != nil || o.out != "started\ndone\n" {
		t.Errorf("got %v %q, want one start", o.err, o.out)
	}
}

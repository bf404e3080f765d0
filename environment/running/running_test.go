package running_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"berth/environment"
)

func TestRun_succeeds(t *testing.T) {
	inBubble(t, newTarget(out(0, "hello\n"), fails(time.Second, "warn\n"), exit(time.Second, 0)), func(t *testing.T, b *bed) {
		in := b.input("echo", "hello")
		in.Env, in.Stdin = map[string]string{"NAME": "value"}, []byte("typed")
		started := b.start(in)
		if started.Status != environment.RunQueued || started.Target != "u@h:22" || started.TimeoutSec != 900 {
			t.Errorf("started %+v, want queued at its target with 900 s", started)
		}
		r := b.end(started.ID)
		stdout, stderr := b.output(r.ID)
		if r.Status != environment.RunSucceeded || r.ExitCode == nil || *r.ExitCode != 0 || stdout != "hello\n" || stderr != "warn\n" {
			t.Errorf("got %s, %v, %q, %q; want success with both streams", r.Status, r.ExitCode, stdout, stderr)
		}
		if r.Termination != "proven" || r.Host == nil || r.Host.Name != "h" || r.WorkingDir == nil || *r.WorkingDir != "/w" || r.Input != nil || r.Deadline == nil {
			t.Errorf("got %+v; want proof, host, folder, a deadline and no input left", r)
		}
		var names []string
		for _, p := range r.Phases {
			names = append(names, p.Name)
			if p.FinishedAt == nil {
				t.Errorf("phase %s has no end", p.Name)
			}
		}
		if got := strings.Join(names, " "); got != "queued acquire prepare run collect release" {
			t.Errorf("phases %q", got)
		}
		l := b.lease(r)
		if l.Status != environment.LeaseReleased || l.RunID == nil || *l.RunID != r.ID || string(l.Receipt) == "null" {
			t.Errorf("lease %+v, want released with a receipt", l)
		}
		if seen := b.target.last(); string(seen.Stdin) != "typed" || len(seen.Env) != 1 || seen.Env[0].Value.Reveal() != "value" || seen.Timeout != 900*time.Second || seen.Grace != b.grace {
			t.Errorf("order %+v, want what was asked for", seen)
		}
	})
}

func TestC31_ExitCodesAreExact(t *testing.T) {
	tests := map[string]struct {
		result environment.ExecResult
		status environment.RunStatus
		code   string
	}{
		"255":    {environment.ExecResult{ExitCode: 255, Ended: "exit"}, environment.RunFailed, "command_failed"},
		"3":      {environment.ExecResult{ExitCode: 3, Ended: "exit"}, environment.RunFailed, "command_failed"},
		"TERM":   {environment.ExecResult{ExitCode: 143, Signal: "TERM", Ended: "exit"}, environment.RunFailed, "command_failed"},
		"KILL":   {environment.ExecResult{ExitCode: 137, Signal: "KILL", Ended: "exit"}, environment.RunFailed, "command_failed"},
		"absent": {environment.ExecResult{ExitCode: 127, Ended: "exit"}, environment.RunFailed, environment.CodeCommandNotFound},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.result.Proven = true
			inBubble(t, newTarget(out(0, "out\n"), step{result: &test.result}), func(t *testing.T, b *bed) {
				r := b.end(b.start(b.input("sh")).ID)
				stdout, _ := b.output(r.ID)
				if r.Status != test.status || r.ExitCode == nil || *r.ExitCode != test.result.ExitCode || r.Failure == nil || r.Failure.Code != test.code || stdout != "out\n" {
					t.Errorf("got %s %v %+v %q", r.Status, r.ExitCode, r.Failure, stdout)
				}
				if signal := test.result.Signal; signal != "" && (r.Signal == nil || *r.Signal != signal) {
					t.Errorf("signal %v, want %s", r.Signal, signal)
				}
			})
		})
	}
}

func TestRun_endings(t *testing.T) {
	ended := func(how string, proven bool) []step {
		return []step{out(0, "x"), {after: time.Second, result: &environment.ExecResult{Ended: how, Proven: proven}}}
	}
	tests := map[string]struct {
		steps       []step
		status      environment.RunStatus
		code        string
		termination string
		lease       environment.LeaseStatus
	}{
		"unproven success":  {ended("exit", false), environment.RunSucceeded, "", "unproven", environment.LeaseReleased},
		"grace":             {ended("grace", true), environment.RunLost, environment.CodeConnectionLost, "proven", environment.LeaseFailed},
		"output limit":      {ended("output_limit", true), environment.RunFailed, environment.CodeOutputLimit, "proven", environment.LeaseFailed},
		"not started":       {ended("not_started", true), environment.RunFailed, environment.CodeWorkspaceFailed, "", environment.LeaseFailed},
		"stopped by nobody": {ended("stopped", true), environment.RunFailed, "internal", "proven", environment.LeaseFailed},
		"unknown word":      {ended("warming", true), environment.RunFailed, "internal", "proven", environment.LeaseFailed},
		"timeout":           {[]step{out(time.Hour, "")}, environment.RunTimedOut, environment.CodeTimedOut, "proven", environment.LeaseFailed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, newTarget(test.steps...), func(t *testing.T, b *bed) {
				r := b.end(b.start(b.input("x")).ID)
				code := ""
				if r.Failure != nil {
					code = r.Failure.Code
				}
				if l := b.lease(r); r.Status != test.status || code != test.code || r.Termination != test.termination || l.Status != test.lease {
					t.Errorf("got %s %q %q lease %s; want %+v", r.Status, code, r.Termination, l.Status, test)
				}
			})
		})
	}
}

// TestRun_saysHowItWasLost has a driver that knows better than that the
// connection broke.
func TestRun_saysHowItWasLost(t *testing.T) {
	target := newTarget(out(0, "kept"), exit(time.Second, 0))
	target.refuseEnd = environment.Unavailable(environment.CodeConnectionLost, "The target was restarted while the command ran.")
	inBubble(t, target, func(t *testing.T, b *bed) {
		r := b.end(b.start(b.input("x")).ID)
		stdout, _ := b.output(r.ID)
		if r.Status != environment.RunLost || r.Termination != "unproven" || r.Failure == nil || r.Failure.Code != environment.CodeConnectionLost || stdout != "kept" {
			t.Fatalf("got %s %q %+v with %q, want lost with the output", r.Status, r.Termination, r.Failure, stdout)
		}
		if said := r.Failure.Message; !strings.Contains(said, r.Target) || !strings.Contains(said, "restarted") || strings.Contains(said, "connection") {
			t.Errorf("it says %q, want the target and that it was restarted", said)
		}
	})
}

// TestRun_lostLeavesNothing has a target that comes back after its run was lost.
func TestRun_lostLeavesNothing(t *testing.T) {
	there := newTarget(out(0, "kept"), exit(time.Second, 0))
	there.refuseEnd = environment.Unavailable(environment.CodeConnectionLost, "The connection broke.")
	kept := func() int {
		there.mu.Lock()
		defer there.mu.Unlock()
		return len(there.works)
	}
	inBubble(t, there, func(t *testing.T, b *bed) {
		lost := b.end(b.start(b.input("x")).ID)
		time.Sleep(time.Hour) // of the bubble
		if lost.Status != environment.RunLost || kept() != 1 {
			t.Fatalf("%s with %d folders on the target, want lost with its folder there", lost.Status, kept())
		}
		there.set(func(t *target) { t.refuseEnd = nil })
		time.Sleep(10 * time.Minute)
		if kept() != 0 {
			t.Error("the run's folder is still on the target")
		}
		now := b.run(lost.ID)
		if stdout, _ := b.output(lost.ID); now.Status != environment.RunLost || stdout != "kept" || there.started(lost.ID) != 1 {
			t.Errorf("the run is %s with %q now, started %d times", now.Status, stdout, there.started(lost.ID))
		}
	})
}

// TestRun_lostLeavesNothingThoughItsServerDies: another server goes on with what
// a run left, and nobody does for ever.
func TestRun_lostLeavesNothingThoughItsServerDies(t *testing.T) {
	for name, c := range map[string]struct {
		away time.Duration
		kept int
	}{
		"back after a day":  {24 * time.Hour, 0},
		"back after a week": {environment.RemainsKept + time.Hour, 1},
	} {
		t.Run(name, func(t *testing.T) {
			there := newTarget(out(0, "kept"), exit(time.Second, 0))
			there.refuseEnd = environment.Unavailable(environment.CodeConnectionLost, "The connection broke.")
			inBubble(t, there, func(t *testing.T, b *bed) {
				lost := b.end(b.start(b.input("x")).ID)
				time.Sleep(time.Minute)
				b.server.kill()
				time.Sleep(time.Minute)
				b.boot()
				time.Sleep(c.away)
				there.set(func(t *target) { t.refuseEnd = nil })
				time.Sleep(10 * time.Minute)
				there.mu.Lock()
				defer there.mu.Unlock()
				if len(there.works) != c.kept || there.starts[lost.ID.String()] != 1 {
					t.Errorf("%d folders on the target, want %d; started %d times", len(there.works), c.kept, there.starts[lost.ID.String()])
				}
			})
		})
	}
}

// TestRun_killedBetweenTheLastStepsLeavesNothing kills the server at each of the
// writes around the end of a lost run.
func TestRun_killedBetweenTheLastStepsLeavesNothing(t *testing.T) {
	for at := 4; ; at++ {
		there := newTarget(out(0, "kept"), exit(time.Second, 0))
		there.refuseEnd = environment.Unavailable(environment.CodeConnectionLost, "The connection broke.")
		reached := false
		inBubble(t, there, func(t *testing.T, b *bed) {
			b.server.store.mu.Lock()
			b.server.store.crashAt = at
			b.server.store.mu.Unlock()
			r := b.start(b.input("x"))
			time.Sleep(20 * time.Second)
			if reached = b.server.store.dead(); !reached {
				return
			}
			b.boot()
			b.end(r.ID)
			there.set(func(t *target) { t.refuseEnd = nil })
			time.Sleep(10 * time.Minute)
			there.mu.Lock()
			defer there.mu.Unlock()
			if len(there.works) != 0 || there.starts[r.ID.String()] != 1 {
				t.Errorf("killed at write %d: %d folders on the target, started %d times", at, len(there.works), there.starts[r.ID.String()])
			}
		})
		if !reached || t.Failed() {
			break
		}
	}
}

func TestRun_targetNotReached(t *testing.T) {
	refused := environment.Unavailable(environment.CodeConnectRefused, "u@h:22: connection refused.").Remedy("Start sshd.")
	for name, prepare := range map[string]func(*target){
		"on acquire": func(t *target) { t.refuseAcquire = refused },
		"on exec":    func(t *target) { t.refuseExec = refused },
	} {
		t.Run(name, func(t *testing.T) {
			target := newTarget(exit(0, 0))
			prepare(target)
			inBubble(t, target, func(t *testing.T, b *bed) {
				r := b.end(b.start(b.input("x")).ID)
				if f := r.Failure; r.Status != environment.RunFailed || f == nil || f.Code != environment.CodeConnectRefused || f.Stage != "connect" || f.Remediation != "Start sshd." || r.ExitCode != nil {
					t.Errorf("got %s %+v, want failed with the probe's code and stage", r.Status, r.Failure)
				}
				if target.started(r.ID) != 0 {
					t.Error("the command ran somewhere")
				}
				page, err := b.server.leases.List(context.Background(), operator, leaseFilter())
				if err != nil || len(page.Items) != 1 || page.Items[0].Status != environment.LeaseFailed || *page.Items[0].FailureReason != environment.CodeConnectRefused {
					t.Errorf("leases %+v, %v; want one, failed with the code", page.Items, err)
				}
			})
		})
	}
}

func TestRun_variableWithoutSecret(t *testing.T) {
	inBubble(t, newTarget(exit(0, 0)), func(t *testing.T, b *bed) {
		b.specs.problems = map[string]string{"envVars.API_TOKEN": environment.CodeSecretDisabled}
		r := b.end(b.start(b.input("x")).ID)
		if r.Status != environment.RunFailed || r.Failure.Code != environment.CodeSecretDisabled || !strings.Contains(r.Failure.Message, "API_TOKEN") {
			t.Errorf("got %s %+v, want failed for the variable", r.Status, r.Failure)
		}
	})
}

func TestRun_driverBreaksItsWord(t *testing.T) {
	t.Run("panics", func(t *testing.T) {
		target := newTarget()
		target.command = func(environment.Exec) []step { panic("boom") }
		inBubble(t, target, func(t *testing.T, b *bed) {
			r := b.end(b.start(b.input("x")).ID)
			if r.Status != environment.RunFailed || r.Failure.Code != "internal" {
				t.Errorf("got %s %+v, want failed and contained", r.Status, r.Failure)
			}
		})
	})
	t.Run("hears neither timeout nor stop", func(t *testing.T) {
		target := newTarget(out(0, "x"), out(2*time.Hour, "y"))
		target.deaf = true
		inBubble(t, target, func(t *testing.T, b *bed) {
			in := b.input("x")
			one := 1
			in.TimeoutSec = &one
			r := b.end(b.start(in).ID)
			if r.Status != environment.RunTimedOut || r.Termination != "unproven" || !strings.Contains(r.Failure.Message, "proven") {
				t.Errorf("got %s %q %+v, want timed out without proof", r.Status, r.Termination, r.Failure)
			}
			if took := r.FinishedAt.Sub(r.CreatedAt); took > time.Minute {
				t.Errorf("took %s", took)
			}
		})
	})
	t.Run("never starts", func(t *testing.T) {
		target := newTarget(exit(0, 0))
		target.unreachable = true
		inBubble(t, target, func(t *testing.T, b *bed) {
			r := b.end(b.start(b.input("x")).ID)
			if r.Status != environment.RunFailed || r.Failure.Code != environment.CodeTimedOut {
				t.Errorf("got %s %+v, want failed in time", r.Status, r.Failure)
			}
		})
	})
}

func TestFiles_duringAndAfterTheRun(t *testing.T) {
	inBubble(t, newTarget(exit(time.Minute, 0)), func(t *testing.T, b *bed) {
		r := b.start(b.input("x"))
		b.wait(r.ID, is(environment.RunRunning))
		for range 2 {
			entry, err := b.server.Files(context.Background(), operator, r.ID, "a.txt")
			if err != nil || entry.Path != "/w/a.txt" {
				t.Errorf("files: %+v, %v", entry, err)
			}
			b.end(r.ID)
		}
	})
}

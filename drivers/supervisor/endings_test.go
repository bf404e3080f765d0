package supervisor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/drivers/shell"
	"berth/environment"
)

// number is a number that no other test's sleep has.
func number() string { return strconv.Itoa(8_000_000 + rand.IntN(1_000_000)) }

// firstOnly opens one session and refuses all later ones.
func firstOnly(open shell.Opener) shell.Opener {
	opened := false
	return func(ctx context.Context) (shell.Session, error) {
		if opened {
			return nil, environment.Unavailable(environment.CodeConnectRefused, "Nothing listens there.")
		}
		opened = true
		return open(ctx)
	}
}

// detach runs a command and lets go of it when its stdout holds word.
func (x *target) detach(t *testing.T, e environment.Exec, l *log, word string) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	l.seen, _ = nil, 0
	reach, reached := once(word)
	l.seen = reach
	go func() {
		<-reached
		cancel(environment.ErrDetach)
	}()
	began := time.Now()
	if _, err := x.run(ctx, e, l); !errors.Is(err, environment.ErrDetach) {
		t.Fatalf("got %v, want ErrDetach", err)
	}
	<-reached
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("letting go took %s", took)
	}
}

func TestGraceEndsTheWork(t *testing.T) {
	t.Parallel()
	x, l, mark := systemTarget(t), newLog(), number()
	e := environment.Exec{Marker: "grace", Grace: time.Second,
		Argv: []string{"sh", "-c", "echo ready; setsid sleep " + mark + "1 >/dev/null 2>&1 & sleep " + mark + "2; echo late"},
		Env:  []environment.EnvValue{{Name: "SECRET", Value: environment.NewSecret("canary-" + mark)}}}
	x.detach(t, e, l, "ready")
	eventually(t, 8*time.Second, func() string { return strings.Join(processes(mark), "\n") })
	eventually(t, 5*time.Second, func() string { return strings.Join(processes(x.home), "\n") }) // the supervisor too
	out, err := exec.Command("grep", "-r", "canary-", x.home).CombinedOutput()
	if err == nil {
		t.Errorf("a secret is left on the disk: %s", out)
	}

	e.Resume, e.Received = true, l.received()
	got, err := x.run(t.Context(), e, l)
	if err != nil || got.Ended != "grace" || !got.Proven || l.text(environment.Stdout) != "ready\n" {
		t.Errorf("taken up after the grace: got %+v, %v, %q", got, err, l.text(environment.Stdout))
	}
	x.clean(t, mark)
	if _, err := x.run(t.Context(), e, l); codeOf(err) != "not_found" {
		t.Errorf("once more: got %v, want not_found", err)
	}
}

func TestConnectionLost(t *testing.T) {
	t.Parallel()
	x, l, mark := systemTarget(t), newLog(), number()
	open := firstOnly(x.open)
	var opened shell.Session
	x.open = func(ctx context.Context) (shell.Session, error) {
		s, err := open(ctx)
		if err == nil {
			opened = s
		}
		return s, err
	}
	l.seen = func(string) { go func() { _ = opened.Close() }() }
	began := time.Now()
	_, err := x.run(t.Context(), environment.Exec{Grace: 1500 * time.Millisecond, Argv: []string{"sh", "-c", "echo kept; sleep " + mark}}, l)
	if codeOf(err) != environment.CodeConnectionLost || l.text(environment.Stdout) != "kept\n" {
		t.Errorf("got %v, %q, want connection_lost and the output", err, l.text(environment.Stdout))
	}
	if took := time.Since(began); took < 1500*time.Millisecond || took > 6*time.Second {
		t.Errorf("it was given up after %s, want the grace of 1.5 s", took)
	}
	eventually(t, 8*time.Second, func() string { return strings.Join(processes(mark), "\n") })
	eventually(t, 5*time.Second, func() string { return strings.Join(processes(x.home), "\n") })
}

func TestUnreachableIsSaidAtOnce(t *testing.T) {
	x := systemTarget(t)
	x.open = func(context.Context) (shell.Session, error) {
		return nil, environment.Unavailable(environment.CodeConnectRefused, "Nothing listens there.")
	}
	if _, err := x.run(t.Context(), environment.Exec{Argv: []string{"true"}}, newLog()); codeOf(err) != environment.CodeConnectRefused {
		t.Errorf("got %v, want the opener's code", err)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	x := systemTarget(t)
	t.Run("timeout", func(t *testing.T) {
		began, mark := time.Now(), number()
		got, err := x.run(t.Context(), environment.Exec{Timeout: time.Second, Argv: []string{"sleep", mark}}, newLog())
		if err != nil || got.Ended != "timeout" || got.ExitCode != 143 || !got.Proven || time.Since(began) < time.Second {
			t.Errorf("got %+v, %v after %s", got, err, time.Since(began))
		}
		x.clean(t, mark)
	})
	t.Run("output", func(t *testing.T) {
		small := *x
		small.spool = 1 << 20
		l := newLog()
		got, err := small.run(t.Context(), environment.Exec{Argv: []string{"sh", "-c", "head -c 1048577 /dev/zero; sleep 60"}}, l)
		if err != nil || got.Ended != "output_limit" || len(l.text(environment.Stdout)) != 1<<20+1 {
			t.Errorf("got %+v, %v, %d bytes", got, err, len(l.text(environment.Stdout)))
		}
		got, err = small.run(t.Context(), environment.Exec{Argv: []string{"sh", "-c", "head -c 1048576 /dev/zero; sleep 1.5"}}, newLog())
		if err != nil || got.Ended != "exit" {
			t.Errorf("at the limit: got %+v, %v", got, err)
		}
	})
}

func TestCallersErrorsEndTheWork(t *testing.T) {
	t.Parallel()
	x, full := systemTarget(t), errors.New("the disk is full")
	tests := map[string]environment.Exec{
		"OnStart": {OnStart: func(environment.Process, environment.HostFacts, string) error { return full }},
		"Output":  {Output: func(environment.Stream, int64, []byte) error { return full }},
	}
	for name, e := range tests {
		t.Run(name, func(t *testing.T) {
			mark := number()
			e.Argv = []string{"sh", "-c", "echo x; sleep " + mark}
			got, err := x.run(t.Context(), e, newLog())
			if !errors.Is(err, full) || got.Ended != "stopped" {
				t.Errorf("got %+v, %v", got, err)
			}
			x.clean(t, mark)
		})
	}
	t.Run("letting go", func(t *testing.T) {
		e := environment.Exec{Marker: "let-go", Argv: []string{"sh", "-c", "echo x; sleep 1; echo y"},
			Output: func(environment.Stream, int64, []byte) error {
				return fmt.Errorf("another server has it: %w", environment.ErrDetach)
			}}
		if _, err := x.run(t.Context(), e, newLog()); !errors.Is(err, environment.ErrDetach) {
			t.Errorf("got %v, want ErrDetach", err)
		}
		l := newLog()
		e.Resume, e.Output = true, nil
		if got, err := x.run(t.Context(), e, l); err != nil || got.Ended != "exit" || l.text(environment.Stdout) != "x\ny\n" {
			t.Errorf("the other server: got %+v, %v, %q", got, err, l.text(environment.Stdout))
		}
	})
}

func TestStoppedBeforeTheStart(t *testing.T) {
	x, stop := systemTarget(t), make(chan struct{})
	close(stop)
	x.open = func(context.Context) (shell.Session, error) { return nil, errors.New("it was dialled") }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, run := range map[string]func() (environment.ExecResult, error){
		"Stop": func() (environment.ExecResult, error) {
			return x.run(t.Context(), environment.Exec{Argv: []string{"true"}, Stop: stop}, newLog())
		},
		"cancellation": func() (environment.ExecResult, error) {
			return x.run(ctx, environment.Exec{Argv: []string{"true"}}, newLog())
		},
	} {
		if got, err := run(); err != nil || got.Ended != "not_started" || !got.Proven {
			t.Errorf("%s: got %+v, %v, want not_started", name, got, err)
		}
	}
}

// TestSlowSettle has the result take longer to store than the grace, while the
// connection breaks: the folder goes all the same.
func TestSlowSettle(t *testing.T) {
	t.Parallel()
	x, l := systemTarget(t), newLog()
	open := x.open
	var opened shell.Session
	x.open = func(ctx context.Context) (shell.Session, error) {
		s, err := open(ctx)
		if err == nil {
			opened = s
		}
		return s, err
	}
	const grace = time.Second
	got, err := x.run(t.Context(), environment.Exec{Grace: grace, Argv: []string{"sh", "-c", "echo kept; exit 3"},
		Settle: func(environment.ExecResult) error {
			_ = opened.Close() // as a broken connection does
			<-time.After(grace + grace/2)
			return nil
		}}, l)
	if err != nil || got.ExitCode != 3 || l.text(environment.Stdout) != "kept\n" {
		t.Errorf("got %+v, %v, %q", got, err, l.text(environment.Stdout))
	}
	x.clean(t, x.home)
}

func TestSupervisorKilled(t *testing.T) {
	t.Parallel()
	x, l, mark := systemTarget(t), newLog(), number()
	l.seen = func(string) {
		for _, p := range processes(filepath.Join(x.home, ".berth")) {
			if strings.HasSuffix(strings.TrimSpace(p), "/sup") {
				pid, _ := strconv.Atoi(strings.Split(p, "/")[2])
				if err := exec.Command("kill", "-9", strconv.Itoa(pid)).Run(); err != nil {
					t.Log(err) // a fork of it that has ended since
				}
			}
		}
	}
	got, err := x.run(t.Context(), environment.Exec{Argv: []string{"sh", "-c", "echo kept; exec sleep " + mark}}, l)
	if codeOf(err) != environment.CodeConnectionLost || got.Proven || l.text(environment.Stdout) != "kept\n" {
		t.Errorf("got %+v, %v, %q", got, err, l.text(environment.Stdout))
	}
	x.clean(t, mark)
}

// TestFolderIsRemovedMeanwhile has somebody clean up the home folder while a
// command runs: the dead man's switch must still work.
func TestFolderIsRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	x, l, mark := systemTarget(t), newLog(), number()
	removed := false
	l.seen = func(string) {
		if removed {
			return
		}
		removed = true
		eventually(t, 5*time.Second, func() string { // the watch has looked once
			if now, err := os.ReadFile(filepath.Join(x.home, ".berth/runs/removed/keeper")); err != nil || len(now) == 0 {
				return "no keeper yet"
			}
			return ""
		})
		if err := os.RemoveAll(filepath.Join(x.home, ".berth")); err != nil {
			t.Error(err)
		}
	}
	_, err := x.run(t.Context(), environment.Exec{Marker: "removed", Grace: 2 * time.Second,
		Argv: []string{"sh", "-c", "sleep 1.2; echo ready; setsid sleep " + mark + "1 & exec sleep " + mark + "2"}}, l)
	if codeOf(err) != environment.CodeConnectionLost {
		t.Errorf("got %v, want connection_lost", err)
	}
	eventually(t, 10*time.Second, func() string { return strings.Join(processes(mark), "\n") })
	eventually(t, 5*time.Second, func() string { return strings.Join(processes(x.home), "\n") })
}

func TestRebooted(t *testing.T) {
	t.Parallel()
	x, l := systemTarget(t), newLog()
	e := environment.Exec{Marker: "rebooted", Grace: time.Second, Argv: []string{"sh", "-c", "echo before; sleep 600"}}
	x.detach(t, e, l, "before")
	eventually(t, 8*time.Second, func() string { return strings.Join(processes(x.home), "\n") })
	claim := filepath.Join(x.home, ".berth/runs/rebooted/claim")
	if err := os.WriteFile(claim, []byte("another-boot\n"+x.home+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(claim), "exit"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e.Resume = true
	again := newLog()
	_, err := x.run(t.Context(), e, again)
	if codeOf(err) != environment.CodeConnectionLost || !strings.Contains(err.Error(), "restarted") || again.text(environment.Stdout) != "before\n" {
		t.Errorf("got %v, %q", err, again.text(environment.Stdout))
	}
	x.clean(t, x.home)
}

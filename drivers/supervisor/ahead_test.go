package supervisor

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/drivers/shell"
	"berth/environment"
)

// prepared makes the first session that the target gives a prepared one.
func (x *target) prepared(t *testing.T) *Ahead {
	t.Helper()
	plain := x.open
	s, err := plain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, err := prepare(s, x.shell)
	if err != nil {
		t.Fatal(err)
	}
	given := false
	x.open = func(ctx context.Context) (shell.Session, error) {
		if given {
			return plain(ctx)
		}
		given = true
		return a, nil
	}
	return a
}

// TestAhead runs work in a session that was prepared, under every shell: of which a
// line is enough, and of which it is not.
func TestAhead(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(t *testing.T) *target{
		"dash": systemTarget,
		"bash as sh": func(t *testing.T) *target {
			return newTarget(t, filepath.Join(linked(t, map[string]string{"sh": "/bin/bash"}), "sh"), "/usr/bin:/bin")
		},
		"busybox alone": func(t *testing.T) *target {
			bin := busybox(t)
			return newTarget(t, filepath.Join(bin, "sh"), bin)
		},
	}
	works := map[string]struct {
		exec environment.Exec
		want string
	}{
		"a line":        {environment.Exec{Argv: []string{"printf", "%s|", "it's\n", `\n$x "`, "-n", "\t"}}, "it's\n|" + `\n$x "` + "|-n|\t|"},
		"a value":       {environment.Exec{Argv: []string{"sh", "-c", `printf %s "$A"`}, Env: []environment.EnvValue{{Name: "A", Value: environment.NewSecret("'\\''\n\n\\")}}}, "'\\''\n\n\\"},
		"other letters": {environment.Exec{Argv: []string{"printf", "%s", "é\x81\x88\xff"}}, "é\x81\x88\xff"},
		"much":          {environment.Exec{Argv: []string{"printf", "%s", strings.Repeat("x'", 10_000)}}, strings.Repeat("x'", 10_000)},
		"input":         {environment.Exec{Argv: []string{"cat"}, Stdin: []byte("a\x00\nb")}, "a\x00\nb"},
	}
	for kind, target := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for name, work := range works {
				x, l := target(t), newLog()
				x.prepared(t)
				got, err := x.run(t.Context(), work.exec, l)
				want := environment.ExecResult{Ended: "exit", Proven: true}
				if err != nil || got != want || l.text(environment.Stdout) != work.want {
					t.Errorf("%s: got %+v, %v, %.99q, want %.99q", name, got, err, l.text(environment.Stdout), work.want)
				}
				x.clean(t, x.home)
			}
		})
	}
}

// TestAheadIsClosed leaves nothing of a prepared session that no work came for.
func TestAheadIsClosed(t *testing.T) {
	t.Parallel()
	x := systemTarget(t)
	if err := x.prepared(t).Close(); err != nil {
		t.Fatal(err)
	}
	x.clean(t, x.home)
}

// TestAheadHasEnded goes on in another session when the prepared one has gone.
func TestAheadHasEnded(t *testing.T) {
	t.Parallel()
	x, l := systemTarget(t), newLog()
	_ = x.prepared(t).Close() // it ends with an error at most
	got, err := x.run(t.Context(), environment.Exec{Argv: []string{"echo", "x"}}, l)
	if err != nil || got.ExitCode != 0 || l.text(environment.Stdout) != "x\n" {
		t.Errorf("got %+v, %v, %q", got, err, l.text(environment.Stdout))
	}
	x.clean(t, x.home)
}

// TestAheadIsStopped starts nothing in a prepared session when the stop came first.
func TestAheadIsStopped(t *testing.T) {
	t.Parallel()
	x, l := systemTarget(t), newLog()
	x.prepared(t)
	stop := make(chan struct{})
	close(stop)
	got, err := x.run(t.Context(), environment.Exec{Argv: []string{"echo", "x"}, Stop: stop}, l)
	if err != nil || got.Ended != "not_started" || l.text(environment.Stdout) != "" {
		t.Errorf("got %+v, %v, %q", got, err, l.text(environment.Stdout))
	}
	x.clean(t, x.home)
}

// TestAheadTakesUp goes on with work, by a prepared session, that an earlier call
// began and let go of.
func TestAheadTakesUp(t *testing.T) {
	t.Parallel()
	x, l := systemTarget(t), newLog()
	ctx, leave := context.WithCancelCause(t.Context())
	e := environment.Exec{Marker: "taken-up", Argv: []string{"sh", "-c", "echo one; sleep 1; echo two; exit 4"}}
	l.seen = func(string) { leave(environment.ErrDetach) }
	if _, err := x.run(ctx, e, l); err == nil {
		t.Fatal("the first call did not let go")
	}
	l.seen = nil
	e.Resume, e.Received = true, l.received()
	x.prepared(t)
	got, err := x.run(t.Context(), e, l)
	if err != nil || got.ExitCode != 4 || l.text(environment.Stdout) != "one\ntwo\n" || l.doubled != "" {
		t.Errorf("got %+v, %v, %q, %s", got, err, l.text(environment.Stdout), l.doubled)
	}
	x.clean(t, x.home)
}

// FuzzOneLine has a shell read a script as one line and wants the same values.
func FuzzOneLine(f *testing.F) {
	for _, value := range []string{"", "a", "it's", "''", `\`, `\'`, "a\nb\n", "'\n'", "\n\\\n'", `"$nl"`, "é", "a\tb"} {
		f.Add(value, "z")
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		var script text
		script.set("a", first)
		script.set("b", second)
		script.WriteString("main\n")
		line, ok := oneLine(script.String())
		if !ok || strings.Contains(first+second, "\x00") {
			return
		}
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `main() { printf '%s|%s' "$a" "$b"; }; nl='
'; IFS= read -r rest && eval "$rest"`)
		cmd.Stdin = strings.NewReader(line)
		cmd.WaitDelay = time.Second
		got, err := cmd.Output()
		if err != nil || string(got) != first+"|"+second || strings.Count(line, "\n") != 1 {
			t.Errorf("%q: got %q, %v", line, got, err)
		}
	})
}

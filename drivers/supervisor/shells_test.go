package supervisor

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/environment"
)

// TestShells runs the same suite under every shell and set of tools that a
// target may have.
func TestShells(t *testing.T) {
	kinds := []struct {
		name   string
		target func(t *testing.T) *target
	}{
		{"dash", func(t *testing.T) *target { return newTarget(t, "/usr/bin/dash", "/usr/bin:/bin") }},
		{"bash as sh", func(t *testing.T) *target {
			return newTarget(t, filepath.Join(linked(t, map[string]string{"sh": "/bin/bash"}), "sh"), "/usr/bin:/bin")
		}},
		{"busybox alone", func(t *testing.T) *target {
			bin := busybox(t)
			return newTarget(t, filepath.Join(bin, "sh"), bin)
		}},
		{"bash without setsid", func(t *testing.T) *target {
			bin := withoutSetsid(t)
			return newTarget(t, filepath.Join(bin, "sh"), bin)
		}},
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			x := k.target(t)
			t.Run("C31 exit codes", x.exitCodes)
			t.Run("C70 bytes", x.bytesArrive)
			t.Run("stdin", x.stdinArrives)
			t.Run("stop", x.stopEndsAll)
			t.Run("output comes before the end", x.streamsEarly)
			t.Run("INT keeps its meaning", func(t *testing.T) {
				if k.name == "busybox alone" {
					return // its env cannot undo what work in the background inherits
				}
				x.interrupt(t)
			})
			x.clean(t, x.home)
		})
	}
}

func (x *target) exitCodes(t *testing.T) {
	tests := map[string]struct {
		argv   []string
		code   int
		signal string
	}{
		"zero":      {[]string{"true"}, 0, ""},
		"three":     {[]string{"sh", "-c", "exit 3"}, 3, ""},
		"255":       {[]string{"sh", "-c", "exit 255"}, 255, ""},
		"TERM":      {[]string{"sh", "-c", "kill -TERM $$"}, 143, "TERM"},
		"KILL":      {[]string{"sh", "-c", "kill -9 $$"}, 137, "KILL"},
		"not found": {[]string{"no-such-command-xyz"}, 127, ""},
		"a folder":  {[]string{"/etc"}, 126, ""},
		"a dash":    {[]string{"-x"}, 127, ""},
	}
	for name, tt := range tests {
		got, err := x.run(t.Context(), environment.Exec{Argv: tt.argv}, newLog())
		want := environment.ExecResult{ExitCode: tt.code, Signal: tt.signal, Ended: "exit", Proven: true}
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
}

func (x *target) bytesArrive(t *testing.T) {
	var all []byte
	for b := 1; b < 256; b++ {
		all = append(all, byte(b))
	}
	texts := []string{"a; touch pwn", "$(touch pwn)", `it's "x"`, "two\nlines\n", `\`, `\0%s`, "", "é", "-n", "*", string(all), strings.Repeat("x'", 30_000)}
	want := strings.Join(texts, "\x00") + "\x00"
	l := newLog()
	if _, err := x.run(t.Context(), environment.Exec{Argv: append([]string{"printf", `%s\0`}, texts...)}, l); err != nil || l.text(environment.Stdout) != want {
		t.Errorf("arguments: %v, got %.999q, want %.999q", err, l.text(environment.Stdout), want)
	}
	for i, text := range texts {
		l := newLog()
		_, err := x.run(t.Context(), environment.Exec{Argv: []string{"sh", "-c", `printf '%s\n' "$GOOD_1"`},
			Env: []environment.EnvValue{{Name: "GOOD_1", Value: environment.NewSecret(text)}}}, l)
		if err != nil || l.text(environment.Stdout) != text+"\n" {
			t.Errorf("value %d: %v, got %.99q, want %.99q", i, err, l.text(environment.Stdout), text)
		}
	}
	if _, err := os.Stat(filepath.Join(x.home, "pwn")); err == nil {
		t.Error("a value was executed")
	}
	// Names that shells keep for themselves must not stop the command.
	var special []environment.EnvValue
	for _, name := range []string{"UID", "PPID", "SHELLOPTS", "OPTIND", "IFS", "PS4", "LC_ALL", "ENV", "PWD", "_", "d", "born"} {
		special = append(special, environment.EnvValue{Name: name, Value: environment.NewSecret("abc")})
	}
	got, err := x.run(t.Context(), environment.Exec{Argv: []string{"true"}, Env: special}, newLog())
	if err != nil || got.ExitCode != 0 {
		t.Errorf("special names: got %+v, %v", got, err)
	}
}

func (x *target) stdinArrives(t *testing.T) {
	in := make([]byte, 70_000)
	for i := range in {
		in[i] = byte(i*11 + i/256)
	}
	l := newLog()
	if _, err := x.run(t.Context(), environment.Exec{Argv: []string{"cat"}, Stdin: in}, l); err != nil || l.text(environment.Stdout) != string(in) {
		t.Errorf("%v, got %d bytes, want %d", err, len(l.text(environment.Stdout)), len(in))
	}
}

func (x *target) stopEndsAll(t *testing.T) {
	l := newLog()
	var stop chan struct{}
	l.seen, stop = once("ready")
	mark := fmt.Sprint(7_000_000 + rand.IntN(1_000_000))
	began := time.Now()
	got, err := x.run(t.Context(), environment.Exec{Stop: stop,
		Argv: []string{"sh", "-c", "sleep " + mark + "1 & (trap '' TERM; sleep " + mark + "2) >/dev/null 2>&1 & echo ready; wait"}}, l)
	if err != nil || got.Ended != "stopped" || !got.Proven {
		t.Errorf("got %+v, %v", got, err)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("it took %s", took)
	}
	if left := processes(mark); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func (x *target) streamsEarly(t *testing.T) {
	l := newLog()
	var stop chan struct{}
	l.seen, stop = once("second\n")
	got, err := x.run(t.Context(), environment.Exec{Stop: stop,
		Argv: []string{"sh", "-c", "echo first; sleep 0.2; echo second; sleep 60"}}, l)
	if err != nil || got.Ended != "stopped" || l.text(environment.Stdout) != "first\nsecond\n" {
		t.Errorf("got %+v, %v, %q", got, err, l.text(environment.Stdout))
	}
}

func (x *target) interrupt(t *testing.T) {
	got, err := x.run(t.Context(), environment.Exec{Argv: []string{"sh", "-c", "kill -INT $$; sleep 1; echo survived"}}, newLog())
	if err != nil || got.Signal != "INT" {
		t.Errorf("got %+v, %v, want the end by INT", got, err)
	}
}

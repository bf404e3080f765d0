package ssh_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/drivers/ssh"
	"berth/drivers/ssh/sshdtest"
	"berth/environment"
)

func quickShell(o *ssh.Options) { o.Limits.Shell = time.Second }

func contextFor(t testing.TB, seconds float64) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), time.Duration(seconds*float64(time.Second)))
}

// output gathers what a command writes.
type output struct {
	mu     sync.Mutex
	stdout bytes.Buffer
	stderr bytes.Buffer
}

func (o *output) take(stream environment.Stream, offset int64, data []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	buffer := &o.stdout
	if stream == environment.Stderr {
		buffer = &o.stderr
	}
	if int64(buffer.Len()) != offset {
		return fmt.Errorf("%s at %d, want %d", stream, offset, buffer.Len())
	}
	buffer.Write(data)
	return nil
}

func command(o *output, argv ...string) environment.Exec {
	return environment.Exec{
		Marker: environment.NewID().String(), Argv: argv, Grace: 10 * time.Second, Output: o.take,
		OnStart: func(environment.Process, environment.HostFacts, string) error { return nil },
	}
}

func acquire(t testing.TB, d *ssh.Driver, s *sshdtest.Server, change map[string]any) environment.Ref {
	t.Helper()
	ref, err := d.Acquire(t.Context(), specOf(t, d, settings(s, change)))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func TestC31_ExitCodes(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	ref := acquire(t, d, s, nil)
	for _, c := range []struct {
		argv   []string
		code   int
		signal string
		stdout string
	}{
		{[]string{"sh", "-c", "echo out; exit 255"}, 255, "", "out\n"},
		{[]string{"sh", "-c", "exit 3"}, 3, "", ""},
		{[]string{"sh", "-c", "kill -TERM $$"}, 143, "TERM", ""},
		{[]string{"sh", "-c", "kill -9 $$"}, 137, "KILL", ""},
		{[]string{"no-such-cmd"}, 127, "", ""},
		{[]string{"pwd"}, 0, "", ref.Dir + "\n"},
	} {
		t.Run(strings.Join(c.argv, " "), func(t *testing.T) {
			var o output
			r, err := d.Exec(t.Context(), ref, command(&o, c.argv...))
			if err != nil {
				t.Fatal(err)
			}
			if r.ExitCode != c.code || r.Signal != c.signal || o.stdout.String() != c.stdout {
				t.Errorf("exit %d signal %q stdout %q, want %d %q %q", r.ExitCode, r.Signal, o.stdout.String(), c.code, c.signal, c.stdout)
			}
		})
	}
	mustPass(t, probe(t, d, ref.Spec))
}

func TestC70_ValuesArriveByteForByte(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	ref := acquire(t, d, s, nil)
	for _, value := range []string{"a; touch /tmp/pwn", "$(touch /tmp/pwn)", `it's "x"`, "one\ntwo", `\`, "", "é", "\x1b[31m", strings.Repeat("x", 60000)} {
		var o output
		e := command(&o, "sh", "-c", `printf %s "$GOOD_1" | od -An -v -tx1`)
		e.Env = []environment.EnvValue{{Name: "GOOD_1", Value: environment.NewSecret(value)}}
		if r, err := d.Exec(t.Context(), ref, e); err != nil || r.ExitCode != 0 {
			t.Fatalf("%.40q: %+v, %v: %s", value, r, err, &o.stderr)
		}
		if got, want := strings.Join(strings.Fields(o.stdout.String()), ""), fmt.Sprintf("%x", value); got != want {
			t.Errorf("value %.40q arrived as %.80s", value, got)
		}
	}
	if _, err := os.Stat("/tmp/pwn"); err == nil {
		t.Error("a value was run")
	}
}

func TestC69_NoValueOnACommandLine(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	ref := acquire(t, d, s, nil)
	var o output
	e := command(&o, "sh", "-c", "echo begun; cat >/dev/null; printenv API_TOKEN")
	e.Env = []environment.EnvValue{{Name: "API_TOKEN", Value: environment.NewSecret("canary-argv-" + s.Home)}}
	e.Stdin = []byte(strings.Repeat("canary-argv-"+s.Home+"\n", 100))
	looked := 0
	e.Output = func(stream environment.Stream, offset int64, data []byte) error {
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			return err
		}
		for _, file := range lines {
			if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte("canary-argv-"+s.Home)) {
				t.Errorf("%s: %q", file, line)
			}
		}
		looked += len(lines)
		return o.take(stream, offset, data)
	}
	if r, err := d.Exec(t.Context(), ref, e); err != nil || r.ExitCode != 0 || !strings.HasSuffix(o.stdout.String(), "canary-argv-"+s.Home+"\n") || looked == 0 {
		t.Errorf("%+v, %v: %q, looked at %d", r, err, &o.stdout, looked)
	}
}

func TestExec_NothingOfTheServersEnvironment(t *testing.T) {
	t.Setenv("BERTH_CANARY", "canary-env")
	t.Setenv("LC_CANARY", "canary-env") // what a plain ssh would send
	s := sshdtest.Start(t, sshdtest.Config{Lines: []string{"AcceptEnv *"}})
	d := newDriver(t)
	ref := acquire(t, d, s, nil)
	var o output
	if _, err := d.Exec(t.Context(), ref, command(&o, "env")); err != nil {
		t.Fatal(err)
	}
	if text := o.stdout.String(); strings.Contains(text, "canary") || !strings.Contains(text, "HOME=") {
		t.Errorf("environment on the target:\n%s", text)
	}
}

func TestC87_ManySessionsOnFewSlots(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{Lines: []string{"MaxSessions 2"}})
	d := newDriver(t)
	ref := acquire(t, d, s, nil)
	for round := range 10 {
		var o output
		e := command(&o, "sh", "-c", "sleep 4321 & sleep 4321")
		e.Timeout = 200 * time.Millisecond
		r, err := d.Exec(t.Context(), ref, e)
		if err != nil || r.Ended != "timeout" {
			t.Fatalf("round %d: %+v, %v", round, r, err)
		}
	}
	for pid, line := range s.Processes() {
		if strings.Contains(line, "sleep 4321") {
			t.Errorf("left: %d %s", pid, line)
		}
	}
	var all sync.WaitGroup
	for range 6 { // at once, on three connections
		all.Go(func() {
			var o output
			if r, err := d.Exec(t.Context(), ref, command(&o, "sh", "-c", "sleep 1; echo done")); err != nil || o.stdout.String() != "done\n" {
				t.Errorf("at once: %+v, %v", r, err)
			}
		})
	}
	all.Wait()
}

func TestExec_SurvivesALostConnection(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	ref := acquire(t, d, s, nil)
	var o output
	e := command(&o, "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.2; done; exit 7")
	first := make(chan struct{})
	var once sync.Once
	e.Output = func(stream environment.Stream, offset int64, data []byte) error {
		once.Do(func() { close(first) })
		return o.take(stream, offset, data)
	}
	done := make(chan error, 1)
	go func() {
		r, err := d.Exec(t.Context(), ref, e)
		if err == nil && r.ExitCode != 7 {
			err = fmt.Errorf("exit %d", r.ExitCode)
		}
		done <- err
	}()
	<-first
	s.Kill()
	s.Start()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(o.stdout.String()), ""); got != "123456789" {
		t.Errorf("output %q", got)
	}
}

func TestExec_LargeOutput(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	ref := acquire(t, d, s, nil)
	var o output
	r, err := d.Exec(t.Context(), ref, command(&o, "sh", "-c", "head -c 6000000 /dev/zero; head -c 3000000 /dev/zero >&2"))
	if err != nil || r.ExitCode != 0 || o.stdout.Len() != 6000000 || o.stderr.Len() != 3000000 {
		t.Errorf("%+v, %v: %d and %d bytes", r, err, o.stdout.Len(), o.stderr.Len())
	}
}

func TestAcquire_FailsWithTheProbesCode(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	spec := specOf(t, d, settings(s, nil))
	s.Kill()
	_, err := d.Acquire(t.Context(), spec)
	e, ok := errors.AsType[*environment.Error](err)
	if !ok || e.Code != environment.CodeConnectRefused || e.Details["stage"] != "connect" || e.Remediation == "" {
		t.Errorf("acquire: %v %+v", err, e)
	}
	ref := environment.Ref{Driver: "ssh", ProviderID: "ssh://u@h:22/w"}
	for range 2 {
		if r, err := d.Release(t.Context(), ref, environment.Destroy); err != nil || r.Outcome != "released" || r.ProviderID != ref.ProviderID {
			t.Errorf("release: %+v, %v", r, err)
		}
	}
}

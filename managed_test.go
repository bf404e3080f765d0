package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/environment"
)

// lines are what a server logs, one by one.
type lines chan string

func (l lines) Write(text []byte) (int, error) {
	l <- string(text)
	return len(text), nil
}

// await reads on until a line says it.
func (l lines) await(t *testing.T, what string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		select {
		case line := <-l:
			if strings.Contains(line, what) {
				return
			}
		case <-ctx.Done():
			t.Fatalf("the log never said %q", what)
		}
	}
}

func writeManaged(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The file of the managed sandbox is read at the start and at SIGHUP: a good one
// counts, a bad one changes nothing, one that is gone takes the exception away.
func TestManagedSandboxIsReadAgainAtHangup(t *testing.T) {
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, syscall.SIGHUP) // else one that comes too early ends the tests
	defer signal.Stop(caught)
	o, log := options(t), make(lines, 10_000)
	o.Err, o.Dev = log, true
	o.ManagedSandbox = filepath.Join(t.TempDir(), "managed.json")
	writeManaged(t, o.ManagedSandbox, `{"name":"Sandbox","provider":"fake","config":{"image":"team/agent:1"},"budget":{"accountLabel":"","maxLeases":3,"leaseMinutesPerDay":0,"note":""}}`)
	srv, err := startServer(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	log.await(t, "the managed sandbox is provisioned")
	managed := func() environment.EnvironmentView {
		t.Helper()
		v, err := srv.parts.base.db.ManagedEnvironment(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := managed()
	if first.Name != "Sandbox" || !first.Managed || !first.Provisioned || first.Budget == nil || first.Budget.MaxLeases != 3 || !strings.Contains(string(first.Config), "team/agent:1") {
		t.Fatalf("at the start it is %+v", first.Environment)
	}
	log.await(t, "at SIGHUP")
	hangup := func(says string) environment.EnvironmentView {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		log.await(t, says)
		return managed()
	}
	writeManaged(t, o.ManagedSandbox, `{"name":"Agents","provider":"fake","config":{"image":"team/agent:2"}}`)
	if second := hangup("the managed sandbox is provisioned"); second.ID != first.ID || second.Name != "Agents" || !strings.Contains(string(second.Config), "team/agent:2") {
		t.Errorf("read again it is %+v", second.Environment)
	}
	revision := managed().Revision
	for name, text := range map[string]string{
		"no JSON":      `{"name":`,
		"unknown key":  `{"name":"Agents","provider":"fake","confg":{}}`,
		"bad setting":  `{"name":"Agents","provider":"fake","config":{"startupTimeoutSec":"soon"}}`,
		"too large":    `{"name":"` + strings.Repeat("a", 1<<20) + `"}`,
		"two values":   `{"name":"Agents","provider":"fake"} {}`,
		"no provider":  `{"name":"Agents"}`,
		"another type": `{"name":5}`,
	} {
		writeManaged(t, o.ManagedSandbox, text)
		if v := hangup("the managed sandbox stays as it was"); v.Revision != revision || !v.Provisioned {
			t.Errorf("%s: it became %+v", name, v.Environment)
		}
	}
	if err := os.Remove(o.ManagedSandbox); err != nil {
		t.Fatal(err)
	}
	if v := hangup("its file is gone"); v.Revision != revision || !v.Managed || v.Provisioned {
		t.Errorf("without its file it is managed %t, provisioned %t", v.Managed, v.Provisioned)
	}
	if err := srv.Stop(); err != nil {
		t.Error(err)
	}
}

// A server does not start with a file that it cannot use, and says why; without
// the flag a sandbox of before keeps its marker alone.
func TestManagedSandboxAtTheStart(t *testing.T) {
	o := options(t)
	o.Dev = true
	o.ManagedSandbox = filepath.Join(t.TempDir(), "managed.json")
	for name, c := range map[string]struct{ text, says string }{
		"gone":        {"", "no such file"},
		"no JSON":     {"hello", "JSON"},
		"no object":   {"[]", "what it holds has the wrong type"},
		"bad setting": {`{"name":"S","provider":"fake","config":{"startupTimeoutSec":0}}`, "config.startupTimeoutSec: Enter a whole number from 1 to 900 s."},
		"no such one": {`{"name":"S","provider":"cloud"}`, "cloud is not installed"},
	} {
		if c.text != "" {
			writeManaged(t, o.ManagedSandbox, c.text)
		}
		srv, err := startServer(t.Context(), o)
		if err == nil {
			t.Fatalf("%s: it started: %v", name, srv.Stop())
		}
		if !strings.Contains(err.Error(), "--managed-sandbox") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		_ = os.Remove(o.ManagedSandbox) // it may not be there
	}
	writeManaged(t, o.ManagedSandbox, `{"name":"S","provider":"fake"}`)
	if err := os.Chmod(o.ManagedSandbox, 0o644); err != nil {
		t.Fatal(err)
	}
	log := make(lines, 10_000)
	o.Err = log
	srv, err := startServer(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	log.await(t, "chmod o-r")
	if err := srv.Stop(); err != nil {
		t.Error(err)
	}
	o.ManagedSandbox, o.Err = "", t.Output()
	srv, err = startServer(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := srv.parts.base.db.ManagedEnvironment(t.Context()); err != nil || !v.Managed || v.Provisioned {
		t.Errorf("without the flag it is %+v, %v", v.Environment, err)
	}
	if err := srv.Stop(); err != nil {
		t.Error(err)
	}
}

package sshtarget_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/drivers/ssh/sshtarget"

	"github.com/pkg/sftp"
	"go.uber.org/goleak"
	gossh "golang.org/x/crypto/ssh"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T) *sshtarget.Target {
	t.Helper()
	target, err := sshtarget.Start(t.Context(), sshtarget.Options{User: "tester"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := target.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if _, err := os.Stat(target.Home); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the home is left: %v", err)
		}
	})
	return target
}

func dial(t *testing.T, target *sshtarget.Target, user string) (*gossh.Client, error) {
	t.Helper()
	signer, err := gossh.ParsePrivateKey([]byte(target.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	_, _, host, _, _, err := gossh.ParseKnownHosts([]byte(target.HostKeys[0]))
	if err != nil {
		t.Fatal(err)
	}
	client, err := gossh.Dial("tcp", target.Addr, &gossh.ClientConfig{
		User: user, Auth: []gossh.AuthMethod{gossh.PublicKeys(signer)},
		HostKeyCallback: gossh.FixedHostKey(host), HostKeyAlgorithms: []string{host.Type()},
	})
	if err == nil {
		t.Cleanup(func() { _ = client.Close() })
	}
	return client, err
}

func connect(t *testing.T, target *sshtarget.Target) *gossh.Client {
	t.Helper()
	client, err := dial(t, target, target.User)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func session(t *testing.T, client *gossh.Client) *gossh.Session {
	t.Helper()
	s, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTarget_RunsCommands(t *testing.T) {
	t.Setenv("CANARY", "canary")
	client := connect(t, start(t))
	for _, c := range []struct {
		command, stdin, stdout, stderr string
		code                           int
		signal                         string
	}{
		{"echo out; echo err >&2; exit 255", "", "out\n", "err\n", 255, ""},
		{"cat; exit 3", "in\n", "in\n", "", 3, ""},
		{"echo $CANARY$USER$0", "", "tester/bin/sh\n", "", 0, ""},
		{"kill -TERM $$", "", "", "", 143, "TERM"},
		{"kill -9 $$", "", "", "", 137, "KILL"},
	} {
		t.Run(c.command, func(t *testing.T) {
			s := session(t, client)
			var stdout, stderr bytes.Buffer
			s.Stdin, s.Stdout, s.Stderr = strings.NewReader(c.stdin), &stdout, &stderr
			err := s.Run(c.command)
			code, signal := 0, ""
			if exit, ok := errors.AsType[*gossh.ExitError](err); ok {
				code, signal = exit.ExitStatus(), exit.Signal()
			} else if err != nil {
				t.Fatal(err)
			}
			if stdout.String() != c.stdout || stderr.String() != c.stderr || code != c.code || signal != c.signal {
				t.Errorf("stdout %q stderr %q code %d signal %q", &stdout, &stderr, code, signal)
			}
		})
	}
}

func TestTarget_RefusesOthers(t *testing.T) {
	target := start(t)
	if _, err := dial(t, target, "somebody"); err == nil {
		t.Error("another user was let in")
	}
	if len(target.HostKeys) != 3 || !strings.HasPrefix(target.HostKeys[0], "[127.0.0.1]:") {
		t.Errorf("host keys %q", target.HostKeys)
	}
}

func TestTarget_ServesFiles(t *testing.T) {
	target := start(t)
	client, err := sftp.NewClient(connect(t, target))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	if err := os.WriteFile(filepath.Join(target.Home, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := client.ReadDir("."); err != nil || len(list) != 1 || list[0].Name() != "x" {
		t.Errorf("list %v, %v", list, err)
	}
}

// TestTarget_WorkOutlivesTheConnection and ends with the target, wherever it
// went.
func TestTarget_WorkOutlivesTheConnection(t *testing.T) {
	target := start(t)
	s := session(t, connect(t, target))
	stdout, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	script := `(setsid sh -c 'while :; do echo x >>alive; sleep 0.02; done' </dev/null >/dev/null 2>&1 &) ; (while :; do echo x >>child; sleep 0.02; done) & echo begun; wait`
	if err := s.Start(script); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	target.DropConnections()
	if err := s.Wait(); err == nil {
		t.Error("the session did not break")
	}
	for _, name := range []string{"alive", "child"} {
		file := filepath.Join(target.Home, name)
		before := size(file)
		waitFor(t, name+" goes on", func() bool { return size(file) > before+4 })
	}
	if err := target.Close(); err != nil {
		t.Error(err)
	}
	if files, _ := filepath.Glob("/proc/[0-9]*/cwd"); files != nil {
		for _, file := range files {
			if dir, err := os.Readlink(file); err == nil && strings.HasPrefix(dir, target.Home) {
				t.Errorf("%s still works in %s", file, dir)
			}
		}
	}
}

func size(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline:
			t.Fatalf("waited 10 s for: %s", what)
		case <-tick.C:
		}
	}
}

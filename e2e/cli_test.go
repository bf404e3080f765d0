package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// oneObject is the one JSON object that is all of an output.
func oneObject(t *testing.T, out string) map[string]any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(out))
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%q is not a JSON object: %v", out, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		t.Fatalf("%q is more than one JSON value", out)
	}
	return v
}

// TestC88_FourFailuresAsJSON: each with its own code and an exit code of its
// own, and nothing else on standard output.
func TestC88_FourFailuresAsJSON(t *testing.T) {
	s := newServer(t)
	s.furnish(t, "CLI")
	host := newHost(t)
	host.save(t, s, "Failing")
	host.Kill()
	stopped := &server{url: "http://127.0.0.1:1", company: s.company}
	for _, c := range []struct {
		name   string
		server *server
		args   []string
		code   string
		exit   int
	}{
		{"not found", s, []string{"env", "probe", "no-such-env", "--json"}, "environment_not_found", 3},
		{"server stopped", stopped, []string{"env", "probe", "no-such-env", "--json"}, "server_unreachable", 7},
		{"wrong token", s, []string{"env", "probe", "no-such-env", "--json", "--api-key", "wrong"}, "invalid_key", 4},
		{"failing environment", s, []string{"env", "probe", "failing", "--json"}, "connect_refused", 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			exit, out, errOut := c.server.cli(t, "", c.args...)
			answer := oneObject(t, out)
			if exit != c.exit || answer["code"] != c.code || answer["error"] == "" || answer["error"] == nil {
				t.Errorf("exit %d, %v; want exit %d, code %s and an error", exit, out, c.exit, c.code)
			}
			if errOut != "" {
				t.Errorf("standard error has %q", errOut)
			}
		})
	}
}

// TestC90_WrongUsage runs the binary itself, with no terminal and a standard
// input that never ends: waiting for an answer would hang.
func TestC90_WrongUsage(t *testing.T) {
	s := newServer(t)
	s.furnish(t, "CLI")
	host := newHost(t)
	host.save(t, s, "Kept")
	for name, args := range map[string][]string{
		"unknown command":    {"frobnicate"},
		"unknown flag":       {"env", "list", "--frobnicate"},
		"missing argument":   {"env", "get"},
		"port abc":           {"env", "update", "Kept", "--port", "abc"},
		"delete without yes": {"env", "delete", "Kept"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(binary(t), args...)
			cmd.Env = append(os.Environ(), "BERTH_API_BASE="+s.url)
			if _, err := cmd.StdinPipe(); err != nil {
				t.Fatal(err)
			}
			var out, errOut bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errOut
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			hung := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
			defer hung.Stop()
			_ = cmd.Wait() // the exit code is looked at below
			if code := cmd.ProcessState.ExitCode(); code != 2 || out.Len() > 0 || errOut.Len() == 0 {
				t.Errorf("%q: exit %d, out %q, err %q; want 2 and a message on standard error only", args, code, &out, &errOut)
			}
		})
	}
	if _, ok := s.named(t, "Kept"); !ok {
		t.Error("it was deleted")
	}
}

// TestCLI_MainJob does the main job without a browser.
func TestCLI_MainJob(t *testing.T) {
	s, host := newServer(t), newHost(t)
	want := func(exit int, stdin string, args ...string) string {
		t.Helper()
		code, out, errOut := s.cli(t, stdin, args...)
		if code != exit {
			t.Fatalf("berth %q exits %d, want %d\n%s%s", args, code, exit, out, errOut)
		}
		return out
	}
	holds := func(out, part string) {
		t.Helper()
		if !strings.Contains(out, part) {
			t.Errorf("the output is %q, want %q in it", out, part)
		}
	}
	want(0, "", "company", "create", "CLI")
	want(0, "", "settings", "set", "--enable-environments")
	want(2, "", "env", "create", "--name", "Box", "--host", host.Host, "--port", "0", "--user", host.User, "--workspace", host.workspace)
	want(0, host.PrivateKey, "env", "create", "--name", "Box", "--host", host.Host, "--port", strconv.Itoa(host.Port),
		"--user", host.User, "--workspace", host.workspace, "--key-file", "-")
	holds(want(6, "", "env", "probe", "box"), "host_key_unknown")
	holds(want(0, "", "env", "scan-host-key", "box"), host.fingerprint())
	want(0, "", "env", "trust-host-key", "box", host.fingerprint())
	out := want(0, "", "env", "test", "BOX")
	for _, stage := range []string{"Name resolves", "Port answers", "SSH greeting", "Host key", "Login", "Shell", "Platform", "Workspace", "Tools", "Clock"} {
		holds(out, "✓ "+stage)
	}
	holds(want(0, "", "env", "list"), "ready")
	if got := want(3, "some input\n", "run", "--env", "box", "--quiet", "--stdin", "-", "--env-var", "GREETING=hi", "--", "sh", "-c", `echo "$GREETING"; cat; printf 'a\000b\377c\n'; exit 3`); got != "hi\nsome input\na\x00b\xffc\n" {
		t.Errorf("the run printed %q", got)
	}
	want(255, "", "run", "--env", "box", "--", "sh", "-c", "exit 255")
	holds(want(0, "", "run", "list"), "exit 255")
	want(0, "", "env", "update", "box", "--description", "A box", "--required-tool", "no-such-tool")
	holds(want(6, "", "env", "probe", "box"), "tool_missing")
	want(0, "", "env", "update", "box", "--clear", "required-tools", "--clear", "description")
	want(0, "", "env", "probe", "box")
	want(5, "", "env", "update", "box", "--revision", "1", "--description", "stale")
	want(0, "", "env", "archive", "box")
	holds(want(0, "", "env", "get", "box"), "archived")
	want(0, "", "env", "restore", "box")
	want(0, "", "env", "update", "box", "--clear", "key")
	holds(want(6, "", "env", "probe", "box"), "credential_missing")
	want(0, "", "env", "delete", "box", "--yes")
	want(3, "", "env", "get", "box")
}

// TestCLI_CtrlCCancels: one SIGINT ends the command on the target, and SIGTERM ends
// the command line even if no server hears of it.
func TestCLI_CtrlCCancels(t *testing.T) {
	s, host := newServer(t, "BERTH_RUN_GRACE="+shortGrace.String()), newHost(t)
	s.furnish(t, "CLI")
	host.save(t, s, "Box")
	begin := func(work string) (cmd *exec.Cmd, errOut *logBuffer) {
		t.Helper()
		cmd = exec.Command(binary(t), "run", "--env", "Box", "--", "sh", "-c", "echo begun; "+work)
		cmd.Env = append(os.Environ(), "BERTH_API_BASE="+s.url)
		var out logBuffer
		errOut = &logBuffer{}
		cmd.Stdout, cmd.Stderr = &out, errOut
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, 20*time.Second, "it prints", func() bool { return strings.Contains(out.String(), "begun") })
		return cmd, errOut
	}
	ends := func(cmd *exec.Cmd, errOut *logBuffer, with syscall.Signal) {
		t.Helper()
		if err := cmd.Process.Signal(with); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the exit code is looked at below
		if code := cmd.ProcessState.ExitCode(); code != 130 {
			t.Errorf("exit %d, want 130\n%s", code, errOut)
		}
	}
	cmd, errOut := begin("sleep 7654")
	ends(cmd, errOut, syscall.SIGINT)
	until(t, 5*time.Second, "the command is gone", func() bool { return running(t, "sleep 7654") == 0 })

	cmd, errOut = begin("sleep 7655")
	s.kill(t)
	began := time.Now()
	ends(cmd, errOut, syscall.SIGTERM)
	if took := time.Since(began); took > 15*time.Second || !strings.Contains(errOut.String(), "it may go on") {
		t.Errorf("without a server it took %s and said %s", took, errOut)
	}
	until(t, shortGrace+15*time.Second, "the command is gone", func() bool { return running(t, "sleep 7655") == 0 })
}

// TestDemo runs it as a newcomer does, with its port taken, and wants nothing
// left behind.
func TestDemo(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	temp, err := os.MkdirTemp("", "berth-demo-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(temp); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(temp, 0o711); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary(t), "demo", "--listen", taken.Addr().String())
	cmd.Env = append(os.Environ(), "BERTH_DEMO_EXIT=1", "TMPDIR="+temp)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"saved Demo target", "key trusted", "probe ready", "hello from " + name, "boot id", "/company/settings/instance/environments"} {
		if !strings.Contains(string(out), part) {
			t.Errorf("the demo does not say %q:\n%s", part, out)
		}
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v %v", left, err)
	}
}

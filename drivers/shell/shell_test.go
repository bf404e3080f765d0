package shell_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/drivers/shell"
	"berth/environment"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var cleanEnv = []string{"PATH=/usr/bin:/bin"}

// login writes a login shell that runs a script before the command.
func login(t *testing.T, script string) shell.Opener {
	t.Helper()
	file := filepath.Join(t.TempDir(), "login")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\nexec /bin/sh \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return shell.Process(file, cleanEnv)
}

// TestC27_AnswerIsNotNoise asks shells whose start-up files print on both
// streams.
func TestC27_AnswerIsNotNoise(t *testing.T) {
	for name, noise := range map[string]string{
		"none":               "",
		"lines and colours":  `echo Welcome; printf '\033[31mquota 90%%\033[0m\n'; echo warn >&2`,
		"no line end":        `printf 'Welcome'; printf 'warn' >&2`,
		"much":               "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2",
		"words like a mark":  `printf '<>{}\n<>\n'`,
		"a failing file":     "false; no-such-command-xyz",
		"standard input set": "true </dev/null",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := shell.Ask(t.Context(), login(t, noise), "printf 'a\\nb'; echo problem >&2; exit 3")
			if err != nil || string(got) != "a\nb" {
				t.Errorf("got %q, %v, want the answer alone", got, err)
			}
		})
	}
}

func TestAskKeepsEveryByte(t *testing.T) {
	var all []byte
	for b := range 256 {
		all = append(all, byte(b))
	}
	file := filepath.Join(t.TempDir(), "it's $(here)\n")
	if err := os.WriteFile(file, bytes.Repeat(all, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := shell.Ask(t.Context(), shell.Process("/bin/sh", cleanEnv), "cat "+shell.Quote(file))
	if err != nil || !bytes.Equal(got, bytes.Repeat(all, 1000)) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

func TestAskLimit(t *testing.T) {
	open := shell.Process("/bin/sh", cleanEnv)
	got, err := shell.Ask(t.Context(), open, fmt.Sprintf("head -c %d /dev/zero", shell.MaxAnswer))
	if err != nil || len(got) != shell.MaxAnswer {
		t.Errorf("at the limit: got %d bytes, %v", len(got), err)
	}
	if _, err = shell.Ask(t.Context(), open, fmt.Sprintf("head -c %d /dev/zero", shell.MaxAnswer+1<<17)); environment.CodeOf(err) != environment.CodeShellUnusable {
		t.Errorf("above the limit: got %v, want shell_unusable", err)
	}
}

func TestAskWithoutAnAnswer(t *testing.T) {
	tests := map[string]shell.Opener{
		"the shell ends":        login(t, "echo This account is not available.; exit 1"),
		"it ends well":          login(t, "exit 0"),
		"it never stops":        login(t, "exec cat /dev/zero"),
		"it is killed":          login(t, "kill -9 $$"),
		"there is no such file": shell.Process("/no/such/shell", cleanEnv),
	}
	for name, open := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := shell.Ask(t.Context(), open, "echo x"); environment.CodeOf(err) != environment.CodeShellUnusable {
				t.Errorf("got %v, want shell_unusable", err)
			}
		})
	}
	t.Run("it hangs", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		began := time.Now()
		if _, err := shell.Ask(ctx, login(t, "exec sleep 60"), "echo x"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
	})
	t.Run("the opener's error comes back", func(t *testing.T) {
		refused := environment.Unavailable(environment.CodeConnectRefused, "Nothing listens there.")
		_, err := shell.Ask(t.Context(), func(context.Context) (shell.Session, error) { return nil, refused }, "echo x")
		if !errors.Is(err, refused) {
			t.Errorf("got %v, want %v", err, refused)
		}
	})
}

// TestCommandSuitsEveryLoginShell runs the command under the shells that are
// here. For those that are not (zsh, fish, csh) it has one single-quoted word
// without anything that they treat in their own way.
func TestCommandSuitsEveryLoginShell(t *testing.T) {
	for name, argv := range map[string][]string{
		"dash": {"/usr/bin/dash"}, "bash": {"/bin/bash"}, "bash as sh": {"/bin/bash", "--posix"}, "busybox": {"/bin/busybox", "sh"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(argv[0], append(argv[1:], "-c", shell.Command)...)
			script := "printf 'answer %s' \"it's\""
			cmd.Stdin = strings.NewReader(fmt.Sprintf("%d\n%s", len(script), script))
			got, err := cmd.Output()
			if err != nil || string(got) != "answer it's" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	if strings.Count(shell.Command, "'") != 2 || strings.ContainsAny(shell.Command, "!\\`\n") {
		t.Errorf("%s has a character that a login shell may treat in its own way", shell.Command)
	}
}

// TestHeads shows why nothing may follow a script before it spoke.
func TestHeads(t *testing.T) {
	for name, tt := range map[string]struct {
		head []string
		rest string
	}{
		"coreutils reads exactly": {[]string{"/usr/bin/head"}, "rest"},
		"busybox reads ahead":     {[]string{"/bin/busybox", "head"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = r.Close() }()
			if _, err := w.WriteString("scriptrest"); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(tt.head[0], append(tt.head[1:], "-c", "6")...)
			cmd.Stdin = r
			got, err := cmd.Output()
			if err != nil || string(got) != "script" {
				t.Errorf("got %q, %v, want script", got, err)
			}
			if rest, err := io.ReadAll(r); err != nil || string(rest) != tt.rest {
				t.Errorf("left over: %q, %v, want %q", rest, err, tt.rest)
			}
		})
	}
}

func TestProcess(t *testing.T) {
	t.Setenv("BERTH_TEST_CANARY", "canary-of-the-server")
	got, err := shell.Ask(t.Context(), shell.Process("/bin/sh", nil), "/usr/bin/env; pwd")
	if err != nil || strings.Contains(string(got), "canary") || !strings.HasSuffix(string(got), "\n/\n") {
		t.Errorf("got %q, %v, want an empty environment in /", got, err)
	}
	for script, want := range map[string]int{"exit 0": 0, "exit 255": 255, "kill -9 $$": 137} {
		s, err := shell.Process("/bin/sh", cleanEnv)(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(s, "%d\n%s", len(script), script); err != nil {
			t.Fatal(err)
		}
		err = s.Wait()
		exit, _ := errors.AsType[*shell.ExitError](err)
		if want == 0 && err != nil || want != 0 && (exit == nil || exit.Code != want) {
			t.Errorf("%s: got %v, want %d", script, err, want)
		}
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("close again: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := shell.Process("/bin/sh", nil)(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

package supervisor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/drivers/shell"
	"berth/environment"
)

func TestRefusedBeforeAnythingIsSent(t *testing.T) {
	x := systemTarget(t)
	x.open = nil
	secret := environment.NewSecret
	tests := map[string]environment.Exec{
		"no command":          {},
		"an empty name":       {Argv: []string{""}},
		"NUL in an argument":  {Argv: []string{"echo", "a\x00b"}},
		"NUL in a value":      {Argv: []string{"true"}, Env: []environment.EnvValue{{Name: "A", Value: secret("a\x00b")}}},
		"NUL in the folder":   {Argv: []string{"true"}, Dir: "a\x00b"},
		"C70 a dash":          {Argv: []string{"true"}, Env: []environment.EnvValue{{Name: "BAD-NAME", Value: secret("x")}}},
		"C70 a digit first":   {Argv: []string{"true"}, Env: []environment.EnvValue{{Name: "1X", Value: secret("x")}}},
		"C70 a blank":         {Argv: []string{"true"}, Env: []environment.EnvValue{{Name: "A B", Value: secret("x")}}},
		"C70 a command":       {Argv: []string{"true"}, Env: []environment.EnvValue{{Name: "X;touch /tmp/pwn", Value: secret("x")}}},
		"a marker with a way": {Argv: []string{"true"}, Marker: "../x"},
	}
	for name, e := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := x.run(t.Context(), e, newLog()); environment.KindOf(err) != environment.KindInvalid {
				t.Errorf("got %v, want KindInvalid", err)
			}
		})
	}
}

// TestC27_NoiseOfStartUpFiles has a login shell that prints before it starts the
// command, as start-up files do.
func TestC27_NoiseOfStartUpFiles(t *testing.T) {
	x := systemTarget(t)
	login := filepath.Join(x.home, "noisy")
	script := "#!/bin/sh\necho Welcome\nprintf '\\033[31mquota 90%%\\033[0m'\necho warn >&2\nprintf 'no newline' >&2\nexec /bin/sh \"$@\"\n"
	if err := os.WriteFile(login, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	x.open = shell.Process(login, []string{"PATH=/usr/bin:/bin", "HOME=" + x.home})
	l := newLog()
	got, err := x.run(t.Context(), environment.Exec{Argv: []string{"sh", "-c", "echo out; echo err >&2"}}, l)
	if err != nil || got.ExitCode != 0 || l.text(environment.Stdout) != "out\n" || l.text(environment.Stderr) != "err\n" {
		t.Errorf("got %+v, %v, %q, %q", got, err, l.text(environment.Stdout), l.text(environment.Stderr))
	}
}

func TestUnusableShells(t *testing.T) {
	x := systemTarget(t)
	for name, script := range map[string]string{
		"it ends":                "echo This account is not available.; exit 1",
		"it ends well":           "exit 0",
		"it never stops talking": "exec cat /dev/zero",
	} {
		t.Run(name, func(t *testing.T) {
			login := filepath.Join(x.home, "unusable")
			if err := os.WriteFile(login, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			x.open = shell.Process(login, nil)
			if _, err := x.run(t.Context(), environment.Exec{Argv: []string{"true"}}, newLog()); codeOf(err) != environment.CodeShellUnusable {
				t.Errorf("got %v, want shell_unusable", err)
			}
		})
	}
}

func TestFolders(t *testing.T) {
	t.Run("no usable home", func(t *testing.T) {
		x := systemTarget(t)
		x.open = shell.Process("/bin/sh", []string{"PATH=/usr/bin:/bin", "HOME=/proc/none", "TMPDIR=" + x.home})
		l := newLog()
		var dir string
		got, err := x.run(t.Context(), environment.Exec{Argv: []string{"echo", "x"},
			OnStart: func(p environment.Process, _ environment.HostFacts, _ string) error { dir = p.Dir; return nil }}, l)
		if err != nil || got.ExitCode != 0 || l.text(environment.Stdout) != "x\n" || !strings.HasPrefix(dir, x.home+"/berth-") {
			t.Errorf("got %+v, %v, in %q", got, err, dir)
		}
		if _, err := os.Stat(filepath.Dir(filepath.Dir(dir))); err == nil {
			t.Error("the folder for runs is left")
		}
	})
	t.Run("nowhere", func(t *testing.T) {
		x := systemTarget(t)
		x.open = shell.Process("/bin/sh", []string{"PATH=/usr/bin:/bin", "HOME=/proc/none", "TMPDIR=/proc/none"})
		if _, err := x.run(t.Context(), environment.Exec{Argv: []string{"true"}}, newLog()); codeOf(err) != environment.CodeWorkspaceFailed {
			t.Errorf("got %v, want %s", err, environment.CodeWorkspaceFailed)
		}
	})
	t.Run("a working folder with awkward bytes", func(t *testing.T) {
		x := systemTarget(t)
		dir := filepath.Join(x.home, "it's\na $(folder)")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		l := newLog()
		var told string
		_, err := x.run(t.Context(), environment.Exec{Argv: []string{"pwd"}, Dir: dir,
			OnStart: func(_ environment.Process, _ environment.HostFacts, cwd string) error { told = cwd; return nil }}, l)
		if err != nil || told != dir || l.text(environment.Stdout) != dir+"\n" {
			t.Errorf("got %v, told %q, ran in %q", err, told, l.text(environment.Stdout))
		}
	})
	t.Run("a file where the folder would be", func(t *testing.T) {
		x := systemTarget(t)
		if _, err := x.run(t.Context(), environment.Exec{Argv: []string{"pwd"}, Dir: "login"}, newLog()); codeOf(err) != environment.CodeWorkspaceMissing {
			t.Errorf("got %v, want workspace_missing", err)
		}
	})
}

// TestLeftoversAreTidied leaves two run folders behind, one of them too old.
func TestLeftoversAreTidied(t *testing.T) {
	x := systemTarget(t)
	for name, age := range map[string]time.Duration{"old": 50 * time.Hour, "young": time.Hour} {
		dir := filepath.Join(x.home, ".berth/runs", name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		beat := filepath.Join(dir, "beat")
		if err := os.WriteFile(beat, []byte("1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(beat, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := x.run(t.Context(), environment.Exec{Argv: []string{"true"}}, newLog()); err != nil {
		t.Fatal(err)
	}
	eventually(t, 5*time.Second, func() string {
		if left := x.folders(t); len(left) != 1 || filepath.Base(left[0]) != "young" {
			return "left: " + strings.Join(left, " ")
		}
		return ""
	})
}

// TestStillbornIsStartedAgain finds a folder whose start was cut off before the
// command began.
func TestStillbornIsStartedAgain(t *testing.T) {
	t.Parallel()
	x := systemTarget(t)
	dir := filepath.Join(x.home, ".berth/runs/cut")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "claim"), []byte("boot\n/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := newLog()
	if _, err := x.run(t.Context(), environment.Exec{Marker: "cut", Argv: []string{"echo", "x"}}, l); err != nil || l.text(environment.Stdout) != "x\n" {
		t.Errorf("got %v, %q", err, l.text(environment.Stdout))
	}
	x.clean(t, x.home)
}

// TestQuickCommandOnABusyHost has the session open the run's pipe only when the
// command and its supervisor are long gone.
func TestQuickCommandOnABusyHost(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	slow := "#!/bin/sh\n/usr/bin/mkfifo \"$@\" && exec sleep 1\n"
	if err := os.WriteFile(filepath.Join(bin, "mkfifo"), []byte(slow), 0o755); err != nil {
		t.Fatal(err)
	}
	x, l := newTarget(t, "/bin/sh", bin+":/usr/bin:/bin"), newLog()
	got, err := x.run(t.Context(), environment.Exec{Argv: []string{"echo", "x"}}, l)
	if err != nil || got.ExitCode != 0 || l.text(environment.Stdout) != "x\n" {
		t.Errorf("got %+v, %v, %q", got, err, l.text(environment.Stdout))
	}
	x.clean(t, x.home)
}

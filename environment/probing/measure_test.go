package probing

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"berth/environment"
)

// TestPlatform reads what sandboxes say of themselves, and believes only what it
// knows.
func TestPlatform(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		said string
		want environment.Platform
		none bool // no platform at all
	}{
		"glibc by getconf":       {said: "system=Linux|machine=x86_64|getconf=glibc 2.36|ldd=musl libc (x86_64)", want: environment.Platform{OS: "linux", Arch: "x64", Libc: "glibc", LibcVersion: "2.36"}},
		"glibc by ldd":           {said: "system=Linux|machine=amd64|ldd=ldd (Debian GLIBC 2.36-9+deb12u4) 2.36", want: environment.Platform{OS: "linux", Arch: "x64", Libc: "glibc", LibcVersion: "2.36"}},
		"glibc of another maker": {said: "system=Linux|machine=aarch64|ldd=ldd (GNU libc) 2.41", want: environment.Platform{OS: "linux", Arch: "arm64", Libc: "glibc", LibcVersion: "2.41"}},
		"glibc by its loader":    {said: "system=Linux|machine=arm64|glibc=found|glibc-loader=ld.so (Debian GLIBC 2.36-9) stable release version 2.36.", want: environment.Platform{OS: "linux", Arch: "arm64", Libc: "glibc", LibcVersion: "2.36"}},
		"musl by ldd":            {said: "system=Linux|machine=x86_64|ldd=musl libc (x86_64)|ldd-next=Version 1.2.4", want: environment.Platform{OS: "linux", Arch: "x64", Libc: "musl", LibcVersion: "1.2.4"}},
		"musl by its loader":     {said: "system=Linux|machine=aarch64|ldd=sh: ldd: not found|musl=found|loader=musl libc (aarch64)|loader-next=Version 1.2.5", want: environment.Platform{OS: "linux", Arch: "arm64", Libc: "musl", LibcVersion: "1.2.5"}},
		"musl without version":   {said: "system=Linux|machine=x86_64|musl=found|loader-next=Version 1.2.4; rm -rf /", want: environment.Platform{OS: "linux", Arch: "x64", Libc: "musl"}},
		"no libc":                {said: "system=Linux|machine=x86_64|ldd=sh: ldd: not found", want: environment.Platform{OS: "linux", Arch: "x64"}},
		"libc of no known name":  {said: "system=Linux|machine=x86_64|getconf=evil 1.0|ldd=bionic 3", want: environment.Platform{OS: "linux", Arch: "x64"}},
		"version is no version":  {said: "system=Linux|machine=x86_64|getconf=glibc 2.36<script>|ldd=ldd (GLIBC) x2.36y", want: environment.Platform{OS: "linux", Arch: "x64", Libc: "glibc"}},
		"version is too long":    {said: "system=Linux|machine=x86_64|getconf=glibc 2." + strings.Repeat("9", 400), want: environment.Platform{OS: "linux", Arch: "x64"}},
		"darwin":                 {said: "system=Darwin|machine=arm64", want: environment.Platform{OS: "darwin", Arch: "arm64", Libc: "none"}},
		"system unknown":         {said: "system=Plan9|machine=x86_64|getconf=glibc 2.36", none: true},
		"machine unknown":        {said: "system=Linux|machine=riscv64|getconf=glibc 2.36", none: true},
		"machine not told":       {said: "system=Linux|getconf=glibc 2.36", none: true},
		"the first word counts":  {said: "system=Linux|machine=x86_64|getconf=glibc 2.36|system=Darwin|machine=arm64|getconf=glibc 9.9", want: environment.Platform{OS: "linux", Arch: "x64", Libc: "glibc", LibcVersion: "2.36"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text := "noise\nberth\nberth:\nberth:begin=1\n"
			for word := range strings.SplitSeq(test.said, "|") {
				text += "berth:" + word + "\n"
			}
			f := factsOf(text)
			got, ok := f.platform()
			if !f.began || got != test.want || ok == test.none {
				t.Errorf("got %+v, %v; want %+v", got, ok, test.want)
			}
		})
	}
}

// TestScript asks real shells.
func TestScript(t *testing.T) {
	t.Parallel()
	for name, argv := range map[string][]string{"sh": {"/bin/sh"}, "bash": {"/bin/bash"}, "busybox": {"/bin/busybox", "sh"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "a folder's name")
			noexec := filepath.Join(t.TempDir(), "tool")
			if err := os.WriteFile(noexec, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			evil := filepath.Join(t.TempDir(), "made")
			tools := []string{"sh", "no-such-tool", "/bin/sh", "/no/such", noexec, "$(touch " + evil + ")", "*"}
			text := ask(t, argv, append([]string{dir}, tools...)...)
			f := factsOf(text)
			got, ok := f.platform()
			if arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]; !ok || got.OS != "linux" || got.Arch != arch || got.Libc == "" || got.LibcVersion == "" {
				t.Errorf("platform %+v, %v of\n%s", got, ok, text)
			}
			if f.workspace != "ok" || f.said["end"] != "1" {
				t.Errorf("workspace %q, end %q of\n%s", f.workspace, f.said["end"], text)
			}
			for i, want := range []string{"ok", "missing", "ok", "missing", "noexec", "missing", "missing"} {
				if f.tools[i] != want {
					t.Errorf("tool %q is %q, want %q", tools[i], f.tools[i], want)
				}
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
				t.Errorf("left %v, %v in the workspace", left, err)
			}
			if _, err := os.Stat(evil); err == nil {
				t.Error("a tool's name was run")
			}
			if f := factsOf(ask(t, argv, filepath.Join(noexec, "below"))); f.workspace != "missing" {
				t.Errorf("a folder below a file is %q", f.workspace)
			}
			if f := factsOf(ask(t, argv, "/proc/self")); f.workspace != "readonly" {
				t.Errorf("a folder that takes no file is %q", f.workspace)
			}
		})
	}
}

func ask(t *testing.T, shell []string, args ...string) string {
	t.Helper()
	argv := append(append(shell[1:len(shell):len(shell)], "-c", examineScript, "berth-probe"), args...)
	cmd := exec.CommandContext(t.Context(), shell[0], argv...)
	cmd.Env, cmd.Dir = []string{"PATH=/usr/bin:/bin"}, "/"
	var said bytes.Buffer
	cmd.Stdout = &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v", shell, err)
	}
	return said.String()
}

// TestAnswer keeps little of much.
func TestAnswer(t *testing.T) {
	t.Parallel()
	a := &answer{stop: make(chan struct{})}
	for range 1000 {
		if err := a.take(environment.Stdout, 0, bytes.Repeat([]byte("x"), 1000)); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-a.stop:
	default:
		t.Error("what floods is not ended")
	}
	if n := len(a.text()); n != maxAnswer {
		t.Errorf("%d bytes are kept, want %d", n, maxAnswer)
	}
}

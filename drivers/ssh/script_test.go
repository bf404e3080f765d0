package ssh

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestScript gives the same answers in every sh that targets have.
func TestScript(t *testing.T) {
	t.Parallel()
	for _, sh := range [][]string{{"dash"}, {"bash", "--posix"}, {"busybox", "sh"}} {
		t.Run(sh[0], func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for _, full := range []bool{true, false} {
				f, keys := answers(t, sh, home, script{mark: "M-x", workspace: "~/a b'c", tools: []string{"sh", "/bin", "no-such", "*"}, full: full})
				if f.dir != filepath.Join(home, "a b'c") || f.host == "" || f.boot == "" || !strings.HasSuffix(keys, " end") {
					t.Errorf("full %v: %+v, answers %s", full, f, keys)
				}
				if !full {
					continue
				}
				if f.freeKB == nil || *f.freeKB == 0 || f.writable == nil || !*f.writable || f.clock == nil || f.libc == "" || f.machine == "" {
					t.Errorf("facts %+v", f)
				}
				if len(f.tools) != 4 || strings.Join(f.missing, " ") != "no-such *" || strings.Join(f.noexec, " ") != "/bin" {
					t.Errorf("tools %q, missing %q, not executable %q", f.tools, f.missing, f.noexec)
				}
			}
			if left, err := filepath.Glob(filepath.Join(home, "a b'c", "*")); err != nil || len(left) > 0 {
				t.Errorf("left in the workspace: %v", left)
			}
			if f, keys := answers(t, sh, home, script{mark: "M-x", workspace: "/proc", full: true}); f.writable == nil || *f.writable || !strings.HasSuffix(keys, " writable") {
				t.Errorf("/proc is writable: %+v, answers %s", f, keys)
			}
			if f, keys := answers(t, sh, home, script{mark: "M-x", workspace: "/proc/x/y", full: true}); f.dirError == nil || !strings.HasSuffix(keys, " nodir") {
				t.Errorf("/proc/x/y is there: %+v, answers %s", f, keys)
			}
		})
	}
}

// answers runs a script and returns its facts and the keys in their order.
func answers(t *testing.T, sh []string, home string, sc script) (*facts, string) {
	t.Helper()
	cmd := exec.Command(sh[0], sh[1:]...)
	cmd.Stdin = strings.NewReader(sc.String())
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "USER=me", "SHELL=/bin/sh"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", sh, err, out)
	}
	f, keys := &facts{}, ""
	for line := range strings.Lines(string(out)) {
		if rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), sc.mark+" "); ok {
			key, value, _ := strings.Cut(rest, "=")
			f.take(answer{key: key, value: printable(value)})
			keys += " " + key
		}
	}
	return f, keys
}

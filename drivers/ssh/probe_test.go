package ssh_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"berth/drivers/ssh/sshdtest"
	"berth/environment"
)

func TestProbe_AllStagesPass(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	r := probe(t, d, specOf(t, d, settings(s, map[string]any{"requiredTools": []string{"sh", "/bin/ls"}})))
	mustPass(t, r)
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	boot := strings.TrimSpace(readFile(t, "/proc/sys/kernel/random/boot_id"))
	if r.Host == nil || r.Host.Name != name || r.Host.BootID != boot {
		t.Errorf("host %v, want %s %s", r.Host, name, boot)
	}
	libc, err := exec.Command("getconf", "GNU_LIBC_VERSION").Output()
	if err != nil {
		t.Fatal(err)
	}
	p := r.Platform
	if p == nil || p.OS != "linux" || p.Arch == "" || p.Libc+" "+p.LibcVersion != strings.TrimSpace(string(libc)) || p.Distro == "" {
		t.Errorf("platform %+v", p)
	}
	for _, stage := range r.Stages {
		if stage.Status != environment.StageOK {
			t.Errorf("stage %s is %s: %s", stage.Name, stage.Status, stage.Message)
		}
	}
	sshdtest.Wait(t, "no connection is left", func() bool { return s.Connections() == 0 })
	if left := s.Processes(); len(left) > 0 {
		t.Errorf("left on the target: %v", left)
	}
	entries, err := os.ReadDir(filepath.Join(s.Home, "work"))
	if err != nil || len(entries) > 0 {
		t.Errorf("left in the workspace: %v, %v", entries, err)
	}
	if entries, err = os.ReadDir(s.Home); err != nil || len(entries) != 1 {
		t.Errorf("left in the home: %v, %v", entries, err)
	}
}

func TestC05_WorkspaceIsTheTargetsOwn(t *testing.T) {
	t.Parallel()
	user := sshdtest.AddUser(t, "", "")
	s := sshdtest.Start(t, sshdtest.Config{User: user})
	d := newDriver(t)
	path := user.Home + "/only remote"
	for _, asked := range []string{path, "~/only remote", "~/it's $HOME \"x\" `id`"} {
		t.Run(asked, func(t *testing.T) {
			want := strings.Replace(asked, "~", user.Home, 1)
			spec := specOf(t, d, settings(s, map[string]any{"remoteWorkspacePath": asked}))
			mustPass(t, probe(t, d, spec))
			ref, err := d.Acquire(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			if ref.Dir != want || ref.ProviderID != fmt.Sprintf("ssh://%s@%s%s", s.User, s.Addr(), want) {
				t.Errorf("dir %q, provider id %q, want %q", ref.Dir, ref.ProviderID, want)
			}
		})
	}
	for _, dir := range []string{user.Home, "/root", "."} {
		if _, err := os.Lstat(filepath.Join(dir, "~")); err == nil {
			t.Errorf("there is a folder called ~ in %s", dir)
		}
	}
	_, err := configure(t, d, settings(s, map[string]any{"remoteWorkspacePath": "relative/dir"}), nil)
	contains(t, fieldsOf(err)["config.remoteWorkspacePath"], "relative")
}

func TestC27_NoiseOfStartUpFiles(t *testing.T) {
	t.Parallel()
	quiet, noisy := sshdtest.AddUser(t, "", ""), sshdtest.AddUser(t, "", "")
	noise := "echo Welcome\nprintf '\\033[31mquota 90%%\\033[0m\\n'\necho warn >&2\nprintf 'no line end'\nalias uname='echo nonsense'\ncd /\n"
	for _, file := range []string{".bashrc", ".profile", ".bash_profile"} {
		if err := os.WriteFile(filepath.Join(noisy.Home, file), []byte(noise), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	results := map[*sshdtest.User]environment.ProbeResult{}
	for _, user := range []*sshdtest.User{quiet, noisy} {
		s := sshdtest.Start(t, sshdtest.Config{User: user})
		d := newDriver(t)
		r := probe(t, d, specOf(t, d, settings(s, map[string]any{"remoteWorkspacePath": "~/w"})))
		mustPass(t, r)
		for _, stage := range r.Stages {
			if text := fmt.Sprint(stage.Message, stage.Measured); strings.ContainsAny(text, "\x1b") || strings.Contains(text, "Welcome") {
				t.Errorf("noise is in stage %s: %q", stage.Name, text)
			}
		}
		results[user] = r
	}
	for _, stage := range []string{"shell", "platform", "workspace", "tools"} {
		got, want := fmt.Sprint(stageOf(results[noisy], stage).Measured), fmt.Sprint(stageOf(results[quiet], stage).Measured)
		got = strings.ReplaceAll(got, noisy.Name, quiet.Name)
		if stage == "workspace" {
			got, want = got[strings.Index(got, "path"):], want[strings.Index(want, "path"):] // free space moves
		}
		if got != want {
			t.Errorf("facts of %s differ:\n noisy %s\n quiet %s", stage, got, want)
		}
	}
}

func TestC28_RequiredTools(t *testing.T) {
	t.Parallel()
	s := fakes(t, map[string]string{"in-path": "", "no-exec": ""})
	path := strings.TrimPrefix(strings.TrimSpace(readFile(t, filepath.Join(s.Home, ".bashrc"))), "export PATH=")
	file := filepath.Join(strings.TrimSuffix(path, ":$PATH"), "no-exec")
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	d := newDriver(t)
	for _, c := range []struct {
		tools []string
		code  string
		says  []string
	}{
		{[]string{"sh", "in-path"}, "", nil},
		{[]string{"no-exec"}, environment.CodeToolNotExecutable, []string{"not executable: no-exec"}},
		{[]string{"no-such-cli-xyz"}, environment.CodeToolMissing, []string{"not found: no-such-cli-xyz"}},
		{[]string{"/bin"}, environment.CodeToolNotExecutable, []string{"not executable: /bin"}},
		{[]string{file}, environment.CodeToolNotExecutable, []string{"not executable: " + file}},
		{[]string{"sh", "no-such-cli-xyz", "/bin", "nor-this"}, environment.CodeToolMissing, []string{"not found: no-such-cli-xyz, nor-this", "not executable: /bin"}},
		{[]string{"/$(touch /tmp/pwn)", "/a'; touch /tmp/pwn; '"}, environment.CodeToolMissing, []string{"$(touch /tmp/pwn)"}},
		{[]string{"*"}, environment.CodeToolMissing, []string{"not found: *"}},
	} {
		t.Run(strings.Join(c.tools, " "), func(t *testing.T) {
			r := probe(t, d, specOf(t, d, settings(s, map[string]any{"requiredTools": c.tools})))
			if c.code == "" {
				mustPass(t, r)
				return
			}
			contains(t, mustFail(t, r, "tools", c.code).Message, c.says...)
		})
	}
	if _, err := os.Stat("/tmp/pwn"); err == nil {
		t.Error("a tool's name was run")
	}
}

func TestProbe_LoginShells(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "shell-") // others have to be able to read it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	silent := filepath.Join(dir, "silent")
	if err := os.WriteFile(silent, []byte("#!/bin/sh\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ shell, says string }{
		{"/bin/sh", ""}, {"/bin/dash", ""}, {"/usr/sbin/nologin", "not available"}, {"/bin/false", "exit code 1"}, {"/bin/true", "exit code 0"},
		{"/no/such/shell", ""}, {silent, "no answer"},
	} {
		t.Run(c.shell, func(t *testing.T) {
			user := sshdtest.AddUser(t, c.shell, "")
			s := sshdtest.Start(t, sshdtest.Config{User: user, KeyTypes: []string{"ed25519"}})
			d := newDriver(t, quickShell)
			r := probe(t, d, specOf(t, d, settings(s, nil)))
			switch {
			case c.shell == "/no/such/shell":
				mustFail(t, r, "login", environment.CodeLoginRefused) // sshd does not let such an account in
			case c.says == "":
				mustPass(t, r)
			default:
				contains(t, mustFail(t, r, "shell", environment.CodeShellUnusable).Message, c.says, user.Name, s.Addr())
			}
		})
	}
}

func TestProbe_Workspace(t *testing.T) {
	t.Parallel()
	user := sshdtest.AddUser(t, "", "")
	s := sshdtest.Start(t, sshdtest.Config{User: user, KeyTypes: []string{"ed25519"}})
	d := newDriver(t)
	for _, c := range []struct {
		name   string
		change map[string]any
		status environment.StageStatus
		code   string
		says   string
	}{
		{"cannot be made", map[string]any{"remoteWorkspacePath": "/proc/x/y"}, environment.StageFailed, environment.CodeWorkspaceMissing, "/proc/x"},
		{"is a file", map[string]any{"remoteWorkspacePath": "/etc/hostname"}, environment.StageFailed, environment.CodeWorkspaceMissing, "/etc/hostname"},
		{"cannot be written", map[string]any{"remoteWorkspacePath": "/usr"}, environment.StageFailed, environment.CodeWorkspaceNotWritable, user.Name},
		{"disk is low", map[string]any{"remoteWorkspacePath": "~/w", "minFreeMB": 1 << 30}, environment.StageWarning, environment.CodeDiskLow, "MB"},
		{"the home itself", map[string]any{"remoteWorkspacePath": "~"}, environment.StageOK, "", user.Home},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := probe(t, d, specOf(t, d, settings(s, c.change)))
			stage := stageOf(r, "workspace")
			if stage.Status != c.status || stage.Code != c.code || r.OK != (c.status != environment.StageFailed) {
				t.Fatalf("workspace is %s %q, ok %v: %s", stage.Status, stage.Code, r.OK, stage.Message)
			}
			contains(t, stage.Message, c.says)
			_, err := d.Acquire(t.Context(), specOf(t, d, settings(s, c.change)))
			if missing := c.code == environment.CodeWorkspaceMissing; missing != (environment.CodeOf(err) == environment.CodeWorkspaceMissing) {
				t.Errorf("acquire: %v", err)
			}
		})
	}
}

// fakes puts programs in front of the target's PATH.
func fakes(t *testing.T, programs map[string]string) *sshdtest.Server {
	t.Helper()
	dir := t.TempDir()
	for name, body := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
	if err := os.WriteFile(filepath.Join(s.Home, ".bashrc"), []byte("export PATH="+dir+":$PATH\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestProbe_Platforms(t *testing.T) {
	t.Parallel()
	uname := func(system, machine string) string {
		return fmt.Sprintf("case $1 in -snm) echo %s box %s ;; *) echo %s box ;; esac", system, machine, system)
	}
	for _, c := range []struct {
		name     string
		programs map[string]string
		want     environment.Platform
		status   environment.StageStatus
	}{
		{"arm", map[string]string{"uname": uname("Linux", "aarch64"), "getconf": "echo glibc 2.41"}, environment.Platform{OS: "linux", Arch: "arm64", Libc: "glibc", LibcVersion: "2.41"}, environment.StageOK},
		{"macOS", map[string]string{"uname": uname("Darwin", "arm64"), "sw_vers": "echo 15.1"}, environment.Platform{OS: "darwin", Arch: "arm64", Libc: "none", Distro: "macOS 15.1"}, environment.StageOK},
		{"musl by ldd", map[string]string{"getconf": "exit 1", "ldd": "echo 'musl libc (x86_64)' >&2; exit 1"}, environment.Platform{OS: "linux", Arch: "x64", Libc: "musl"}, environment.StageOK},
		{"glibc by ldd", map[string]string{"getconf": "exit 1", "ldd": "echo 'ldd (GNU libc) 2.34'"}, environment.Platform{OS: "linux", Arch: "x64", Libc: "glibc", LibcVersion: "2.34"}, environment.StageOK},
		{"another system", map[string]string{"uname": uname("FreeBSD", "amd64")}, environment.Platform{}, environment.StageFailed},
		{"another machine", map[string]string{"uname": uname("Linux", "riscv64")}, environment.Platform{}, environment.StageFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fakes(t, c.programs)
			d := newDriver(t)
			r := probe(t, d, specOf(t, d, settings(s, nil)))
			if c.status == environment.StageFailed {
				mustFail(t, r, "platform", environment.CodePlatformUnknown)
				if _, err := os.Stat(filepath.Join(s.Home, "work")); err == nil {
					t.Error("the workspace was made on a platform that Berth does not know")
				}
				return
			}
			if stage := stageOf(r, "platform"); stage.Status != c.status {
				t.Fatalf("platform is %s: %s", stage.Status, stage.Message)
			}
			got := *r.Platform
			if c.want.Distro == "" {
				got.Distro = ""
			}
			if c.want.Libc == "musl" {
				if _, err := os.Stat("/lib/ld-musl-x86_64.so.1"); err == nil && got.LibcVersion == "" {
					t.Error("musl's loader is here, and was not asked for its version")
				}
				got.LibcVersion = "" // of this machine's, where it has one
			}
			if got != c.want {
				t.Errorf("platform %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestProbe_Clock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		date   string
		status environment.StageStatus
		says   string
	}{
		"agrees": {"exec /bin/date +%s", environment.StageOK, "agree"},
		"ahead":  {"echo $(($(/bin/date +%s) + 120))", environment.StageWarning, "ahead"},
		"behind": {"echo $(($(/bin/date +%s) - 3600))", environment.StageWarning, "behind"},
		"just":   {"echo $(($(/bin/date +%s) + 59))", environment.StageOK, "agree"},
		"none":   {"exit 1", environment.StageWarning, "does not tell"},
	} {
		t.Run(name, func(t *testing.T) {
			s := fakes(t, map[string]string{"date": c.date})
			d := newDriver(t)
			r := probe(t, d, specOf(t, d, settings(s, nil)))
			mustPass(t, r)
			stage := stageOf(r, "clock")
			if stage.Status != c.status || (stage.Code == environment.CodeClockOff) != (c.status == environment.StageWarning) {
				t.Errorf("clock is %s %q: %s", stage.Status, stage.Code, stage.Message)
			}
			contains(t, stage.Message, c.says)
		})
	}
}

func TestProbe_CancelledAndTimedOut(t *testing.T) {
	t.Parallel()
	s := fakes(t, map[string]string{"df": "exec sleep 60"})
	d := newDriver(t, quickShell)
	spec := specOf(t, d, settings(s, nil))
	ctx, cancel := contextFor(t, 2)
	defer cancel()
	r := d.Probe(ctx, spec, func(environment.Stage) {})
	stage := mustFail(t, r, "workspace", environment.CodeTimedOut)
	contains(t, stage.Message, s.Addr())
	sshdtest.Wait(t, "no connection is left", func() bool { return s.Connections() == 0 })
}

package ssh_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"berth/drivers/ssh"
	"berth/drivers/ssh/sshdtest"
	"berth/drivers/ssh/sshtarget"
	"berth/environment"
)

// plant fills a workspace with what may and may not be read.
func plant(t *testing.T, dir string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755))
	must(os.MkdirAll(filepath.Join(dir, "many"), 0o755))
	must(os.WriteFile(filepath.Join(dir, "a", "b", "é x.txt"), []byte("hello\x00\xff"), 0o644))
	must(os.WriteFile(filepath.Join(dir, "limit"), make([]byte, environment.MaxFileRead), 0o644))
	must(os.WriteFile(filepath.Join(dir, "over"), make([]byte, environment.MaxFileRead+1), 0o644))
	must(os.WriteFile(dir+"-beside", []byte("secret"), 0o644))
	must(syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
	for name, target := range map[string]string{
		"inside": "a/b/é x.txt", "absolute": filepath.Join(dir, "a", "b"), "up": "a/../a/b", "out": "/etc/passwd", "beside": "../" + filepath.Base(dir) + "-beside",
		"parent": "..", "loop": "loop", "gone": "nowhere", "a/out": "../../../../../../etc", "root": "/",
	} {
		must(os.Symlink(target, filepath.Join(dir, name)))
	}
	for i := range environment.MaxDirList + 1 {
		must(os.WriteFile(filepath.Join(dir, "many", fmt.Sprintf("%05d", i)), nil, 0o644))
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	real := sshdtest.Start(t, sshdtest.Config{})
	target, err := sshtarget.Start(t.Context(), sshtarget.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := target.Close(); err != nil {
			t.Error(err)
		}
	})
	d := newDriver(t)
	refs := map[string]environment.Ref{"sshd": acquire(t, d, real, nil)}
	refs["sshtarget"], err = d.Acquire(t.Context(), specOf(t, d, map[string]any{
		"host": target.Host, "port": target.Port, "username": target.User, "remoteWorkspacePath": "~/work",
		"privateKey": target.PrivateKey, "knownHosts": strings.Join(target.HostKeys, "\n"),
	}))
	if err != nil {
		t.Fatal(err)
	}
	for name, ref := range refs {
		t.Run(name, func(t *testing.T) {
			plant(t, ref.Dir)
			readAll(t, d, ref)
		})
	}
}

func readAll(t *testing.T, d *ssh.Driver, ref environment.Ref) {
	for _, c := range []struct {
		path string
		code string
		text string // content, "" for a folder
		cut  bool
	}{
		{path: ""}, {path: "."}, {path: "a/b"}, {path: "a//b/"}, {path: "absolute"}, {path: "up"}, {path: "many", cut: true},
		{path: "a/b/é x.txt", text: "hello\x00\xff"}, {path: "inside", text: "hello\x00\xff"}, {path: "absolute/é x.txt", text: "hello\x00\xff"},
		{path: "a/../a/b/é x.txt", text: "hello\x00\xff"},
		{path: "limit", text: strings.Repeat("\x00", environment.MaxFileRead)},
		{path: "over", text: strings.Repeat("\x00", environment.MaxFileRead), cut: true},
		{path: "..", code: "path_escapes"}, {path: "a/../../x", code: "path_escapes"}, {path: "/etc/passwd", code: "path_escapes"},
		{path: "out", code: "path_escapes"}, {path: "beside", code: "path_escapes"}, {path: "parent", code: "path_escapes"},
		{path: "parent/x", code: "path_escapes"}, {path: "a/out", code: "path_escapes"}, {path: "a/out/passwd", code: "path_escapes"},
		{path: "root", code: "path_escapes"}, {path: "loop", code: "path_escapes"}, {path: "a\x00b", code: "path_escapes"},
		{path: "missing", code: "file_not_found"}, {path: "gone", code: "file_not_found"}, {path: "a/missing/x", code: "file_not_found"},
		{path: "pipe", code: "not_a_file"},
	} {
		t.Run(c.path, func(t *testing.T) {
			entry, err := d.Read(t.Context(), ref, c.path)
			if environment.CodeOf(err) != c.code {
				t.Fatalf("read %q: %v, want code %q", c.path, err, c.code)
			}
			if err != nil {
				return
			}
			if entry.IsDir != (c.text == "") || string(entry.Content) != c.text || entry.Cut != c.cut {
				t.Errorf("read %q: folder %v, %d bytes, cut %v", c.path, entry.IsDir, len(entry.Content), entry.Cut)
			}
		})
	}
	entry, err := d.Read(t.Context(), ref, "")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	for _, e := range entry.Entries {
		kinds[e.Name] = e.Type
	}
	if kinds["a"] != "dir" || kinds["limit"] != "file" || kinds["out"] != "symlink" || kinds["absolute"] != "symlink" || kinds["pipe"] != "other" {
		t.Errorf("types %v", kinds)
	}
	if many, err := d.Read(t.Context(), ref, "many"); err != nil || len(many.Entries) != environment.MaxDirList || many.Entries[0].Path != "many/00000" {
		t.Errorf("many: %d entries, %v", len(many.Entries), err)
	}
}

func TestRead_WithoutSFTP(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{Lines: []string{"Subsystem sftp /bin/false"}, KeyTypes: []string{"ed25519"}})
	d := newDriver(t)
	ref := acquire(t, d, s, nil)
	_, err := d.Read(t.Context(), ref, "")
	if e := environment.AsError(err); e.Kind != environment.KindUnsupported || e.Code != "sftp_unavailable" || e.Remediation == "" {
		t.Errorf("read: %v", err)
	}
}

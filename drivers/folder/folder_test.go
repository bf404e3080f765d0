package folder_test

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"berth/drivers/folder"
	"berth/environment"
)

// A folder is read, and nothing that lies outside of it, by whatever way.
func TestRead(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "work")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "sub"), 0o755),
		os.WriteFile(filepath.Join(dir, "sub", "a.txt"), []byte("inside"), 0o644),
		os.WriteFile(filepath.Join(top, "outside.txt"), []byte("outside"), 0o644),
		os.Symlink("../outside.txt", filepath.Join(dir, "out")),
		os.Symlink("/etc/passwd", filepath.Join(dir, "absolute")),
		os.Symlink("..", filepath.Join(dir, "parent")),
		os.Symlink("sub/a.txt", filepath.Join(dir, "in")),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, code, content string }{
		{name: "sub/a.txt", content: "inside"},
		{name: "in", content: "inside"},
		{name: "sub/../sub/a.txt", content: "inside"},
		{name: "..", code: "path_escapes"},
		{name: "../outside.txt", code: "path_escapes"},
		{name: "/etc/passwd", code: "path_escapes"},
		{name: "out", code: "path_escapes"},
		{name: "absolute", code: "path_escapes"},
		{name: "parent/outside.txt", code: "path_escapes"},
		{name: "none", code: "file_not_found"},
		{name: "pipe", code: "not_a_file"},
	} {
		entry, err := folder.Read(dir, c.name)
		if code := environment.CodeOf(err); code != c.code || string(entry.Content) != c.content {
			t.Errorf("Read(%q) = %q, code %q (%v); want %q, %q", c.name, entry.Content, code, err, c.content, c.code)
		}
	}
	entry, err := folder.Read(dir, "")
	var names []string
	for _, e := range entry.Entries {
		names = append(names, e.Name+":"+e.Type)
	}
	if want := []string{"absolute:symlink", "in:symlink", "out:symlink", "parent:symlink", "pipe:other", "sub:dir"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("listed %v, %v; want %v", names, err, want)
	}
}

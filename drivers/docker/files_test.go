package docker_test

import (
	"testing"

	"berth/drivers/docker"
	"berth/environment"
)

// TestAwkwardFiles reads names that a line cannot hold, and more than is listed.
func TestAwkwardFiles(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	d := driver(t, docker.Options{})
	ref := acquire(t, d, specOf(t, e, e.Busybox(t)))
	run(t, d, ref, `nl='
'
mkdir "a${nl}b" -- '-n' ' x ' && printf hello >"a${nl}b/c$nl" && printf '%s' dash >./-n/-r && : >.hidden && : >'*' && mkdir many && cd many && i=0
while [ $i -lt 2001 ]; do : >f$i; i=$((i+1)); done`)
	read := func(path string) environment.WorkspaceEntry {
		t.Helper()
		entry, err := d.Read(t.Context(), ref, path)
		if err != nil {
			t.Fatalf("read %q: %v", path, err)
		}
		return entry
	}
	var names []string
	for _, f := range read("").Entries {
		names = append(names, f.Name)
	}
	want := []string{" x ", "*", "-n", ".hidden", "a\nb", "many"}
	if len(names) != len(want) {
		t.Fatalf("got %q, want %q", names, want)
	}
	for i := range want {
		if names[i] != want[i] {
			t.Errorf("got %q, want %q", names, want)
		}
	}
	if got := read("a\nb/c\n"); string(got.Content) != "hello" {
		t.Errorf("got %q", got.Content)
	}
	if got := read("-n/-r"); string(got.Content) != "dash" {
		t.Errorf("got %q", got.Content)
	}
	if got := read("many"); len(got.Entries) != environment.MaxDirList || got.Size != 2001 || !got.Cut {
		t.Errorf("got %d entries of %d, cut %v", len(got.Entries), got.Size, got.Cut)
	}
	if got := read(" x "); !got.IsDir || len(got.Entries) != 0 {
		t.Errorf("an empty folder: %+v", got)
	}
}

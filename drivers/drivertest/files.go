package drivertest

import (
	"strings"
	"testing"

	"berth/environment"
)

func runFiles(t *testing.T, x *target) {
	x.sh(t, `mkdir -p files/folder && cd files && printf 'hello\n' >a.txt && ln -sf a.txt link && ln -sfn /etc out &&
ln -sfn ../../.. up && ln -sf /etc/passwd passwd && mkfifo -m 600 pipe 2>/dev/null; head -c 1048577 /dev/zero >big; : >folder/inner`)
	filer := x.driver.(environment.Filer)
	t.Run("a folder is listed by name", func(t *testing.T) {
		entry, err := filer.Read(t.Context(), x.ref, "files")
		if err != nil || !entry.IsDir {
			t.Fatalf("got %+v, %v", entry, err)
		}
		var got []string
		for _, e := range entry.Entries {
			got = append(got, e.Name+" "+e.Type)
			if e.Path != "files/"+e.Name || e.ModTime.IsZero() {
				t.Errorf("entry %+v", e)
			}
		}
		if want := "a.txt file, big file, folder dir, link symlink, out symlink, passwd symlink, pipe other, up symlink"; strings.Join(got, ", ") != want {
			t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
		}
	})
	for _, name := range []string{"files/a.txt", "files/link", "files/folder/../a.txt"} {
		t.Run("reads "+name, func(t *testing.T) {
			entry, err := filer.Read(t.Context(), x.ref, name)
			if err != nil || string(entry.Content) != "hello\n" || entry.Size != 6 || entry.Cut || entry.IsDir {
				t.Errorf("got %+v, %v", entry, err)
			}
		})
	}
	t.Run("a file above the limit is cut", func(t *testing.T) {
		entry, err := filer.Read(t.Context(), x.ref, "files/big")
		if err != nil || len(entry.Content) != environment.MaxFileRead || !entry.Cut || entry.Size != environment.MaxFileRead+1 {
			t.Errorf("got %d bytes of %d, cut %v, %v", len(entry.Content), entry.Size, entry.Cut, err)
		}
	})
	refused := map[string]string{
		"..": "path_escapes", "../": "path_escapes", "files/../..": "path_escapes", "/etc/passwd": "path_escapes",
		"files/out": "path_escapes", "files/out/passwd": "path_escapes", "files/passwd": "path_escapes", "files/up/etc": "path_escapes",
		"files/none": "file_not_found", "files/pipe": "not_a_file",
	}
	for name, code := range refused {
		t.Run("refuses "+name, func(t *testing.T) {
			entry, err := filer.Read(t.Context(), x.ref, name)
			if codeOf(err) != code || entry.Content != nil || entry.Entries != nil {
				t.Errorf("got %+v, %v, want code %s", entry, err, code)
			}
		})
	}
	x.sh(t, "rm -rf files")
}

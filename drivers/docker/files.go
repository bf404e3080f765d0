package docker

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/environment"
)

//go:embed read.sh
var readScript string

// maxListing is how much of a folder's list is read.
const maxListing = 8 << 20

// Read lists a folder of the workspace or reads a file, with the sandbox's own
// shell, which must run. KindForbidden path_escapes for a way out, by ".." or by a
// link; KindNotFound file_not_found; KindInvalid not_a_file for pipes, sockets and
// devices.
func (d *Driver) Read(ctx context.Context, ref environment.Ref, name string) (environment.WorkspaceEntry, error) {
	r := reading{shown: path.Clean("/" + name)[1:], mark: newMark()}
	if strings.ContainsRune(name, 0) || path.IsAbs(name) {
		return environment.WorkspaceEntry{}, r.escapes()
	}
	ctx, cancel := context.WithTimeout(ctx, d.limits.Call)
	defer cancel()
	s, err := d.sandboxOf(ctx, ref)
	if err != nil {
		return environment.WorkspaceEntry{}, err
	}
	answer, _, err := s.output(ctx, []string{"/bin/sh", "-c", readScript, "sh", ref.Dir, name, r.mark,
		strconv.Itoa(environment.MaxDirList), strconv.Itoa(environment.MaxFileRead + 1)}, maxListing)
	if err != nil {
		return environment.WorkspaceEntry{}, err
	}
	return r.entry(answer)
}

func newMark() string {
	var mark [12]byte
	_, _ = rand.Read(mark[:]) // never fails
	return hex.EncodeToString(mark[:])
}

// reading makes an entry of the script's answer.
type reading struct {
	shown string
	mark  string
}

func (r reading) entry(answer []byte) (environment.WorkspaceEntry, error) {
	head, rest, _ := bytes.Cut(answer, []byte{'\n'})
	word, size, _ := strings.Cut(string(head), " ")
	switch word {
	case "folder":
		return r.folder(string(rest))
	case "file":
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			return environment.WorkspaceEntry{}, r.unreadable()
		}
		kept := min(len(rest), environment.MaxFileRead)
		whole := max(n, int64(len(rest)))
		return environment.WorkspaceEntry{Path: r.shown, Content: rest[:kept:kept], Size: whole, Cut: whole > int64(kept)}, nil
	case "escapes":
		return environment.WorkspaceEntry{}, r.escapes()
	case "none":
		return environment.WorkspaceEntry{}, environment.NewError(environment.KindNotFound, "file_not_found", fmt.Sprintf("There is no %q in the workspace.", clean(r.shown)))
	case "gone":
		return environment.WorkspaceEntry{}, environment.NewError(environment.KindNotFound, "file_not_found", "The workspace is not there.")
	case "forbidden":
		return environment.WorkspaceEntry{}, environment.NewError(environment.KindForbidden, "file_forbidden", fmt.Sprintf("The sandbox's user may not read %q.", clean(r.shown)))
	case "other":
		return environment.WorkspaceEntry{}, environment.Invalid("not_a_file", fmt.Sprintf("%q is neither a file nor a folder.", clean(r.shown)))
	}
	return environment.WorkspaceEntry{}, r.unreadable()
}

// folder reads entries "<mode in hex> <size> <seconds> ./<name>", each behind the
// mark, as a name may hold a line end.
func (r reading) folder(text string) (environment.WorkspaceEntry, error) {
	entry := environment.WorkspaceEntry{Path: r.shown, IsDir: true, Entries: []environment.FileInfo{}}
	whole := false
	for _, record := range strings.Split("\n"+text, "\n"+r.mark)[1:] {
		f := strings.SplitN(strings.TrimSuffix(record, "\n"), " ", 4)
		if len(f) == 2 && f[0] == "total" {
			entry.Size, _ = strconv.ParseInt(f[1], 10, 64)
			whole = true
			continue
		}
		if len(f) < 4 {
			return environment.WorkspaceEntry{}, r.unreadable()
		}
		mode, _ := strconv.ParseUint(f[0], 16, 32)
		size, _ := strconv.ParseInt(f[1], 10, 64)
		seconds, _ := strconv.ParseInt(f[2], 10, 64)
		name := strings.TrimPrefix(f[3], "./")
		entry.Entries = append(entry.Entries, environment.FileInfo{Name: name, Path: path.Join(r.shown, name), Type: typeOf(mode),
			Size: size, ModTime: time.Unix(seconds, 0).UTC()})
	}
	if !whole {
		return environment.WorkspaceEntry{}, r.unreadable()
	}
	slices.SortFunc(entry.Entries, func(a, b environment.FileInfo) int { return cmp.Compare(a.Name, b.Name) })
	entry.Cut = entry.Size > environment.MaxDirList
	return entry, nil
}

// typeOf reads the kind of a file off its mode.
func typeOf(mode uint64) string {
	switch mode & 0xf000 {
	case 0x4000:
		return "dir"
	case 0x8000:
		return "file"
	case 0xa000:
		return "symlink"
	}
	return "other"
}

func (r reading) escapes() error {
	return environment.NewError(environment.KindForbidden, "path_escapes", fmt.Sprintf("%q leads out of the workspace.", clean(r.shown)))
}

func (r reading) unreadable() error {
	return environment.Unavailable("file_unreadable", fmt.Sprintf("%q could not be read in the sandbox.", clean(r.shown))).
		Remedy("The image needs the programs readlink, stat and head.")
}

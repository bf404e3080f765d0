// Package folder reads a folder of this machine for drivers whose targets are
// folders here.
package folder

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"berth/environment"
)

// Read lists a folder below dir or reads a file there. KindForbidden path_escapes
// for a way out, by ".." or by a link; KindNotFound file_not_found; KindInvalid
// not_a_file for pipes, sockets and devices.
func Read(dir, name string) (environment.WorkspaceEntry, error) {
	shown := path.Clean("/" + name)[1:]
	if name == "" {
		name = "."
	}
	if !filepath.IsLocal(name) {
		return environment.WorkspaceEntry{}, escapes(shown)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return environment.WorkspaceEntry{}, explain(shown, err)
	}
	defer func() { _ = root.Close() }()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would wait for its other end
	if err != nil {
		return environment.WorkspaceEntry{}, explain(shown, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return environment.WorkspaceEntry{}, explain(shown, err)
	case info.IsDir():
		return list(f, shown)
	case info.Mode().IsRegular():
		return content(f, info.Size(), shown)
	}
	return environment.WorkspaceEntry{}, environment.Invalid("not_a_file", fmt.Sprintf("%q is neither a file nor a folder.", shown))
}

func list(f *os.File, shown string) (environment.WorkspaceEntry, error) {
	found, err := f.ReadDir(-1)
	if err != nil {
		return environment.WorkspaceEntry{}, explain(shown, err)
	}
	entry := environment.WorkspaceEntry{Path: shown, IsDir: true, Entries: []environment.FileInfo{}, Size: int64(len(found))}
	slices.SortFunc(found, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	if len(found) > environment.MaxDirList {
		found, entry.Cut = found[:environment.MaxDirList], true
	}
	for _, e := range found {
		info, err := e.Info()
		if err != nil { // removed meanwhile
			continue
		}
		entry.Entries = append(entry.Entries, environment.FileInfo{
			Name: e.Name(), Path: path.Join(shown, e.Name()), Type: typeOf(info.Mode()), Size: info.Size(), ModTime: info.ModTime().UTC(),
		})
	}
	return entry, nil
}

func typeOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "dir"
	case mode.IsRegular():
		return "file"
	case mode&fs.ModeSymlink != 0:
		return "symlink"
	}
	return "other"
}

func content(f *os.File, size int64, shown string) (environment.WorkspaceEntry, error) {
	buffer := make([]byte, min(size, environment.MaxFileRead)+1)
	n, err := io.ReadFull(f, buffer)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return environment.WorkspaceEntry{}, explain(shown, err)
	}
	kept := min(n, environment.MaxFileRead)
	return environment.WorkspaceEntry{Path: shown, Content: buffer[:kept:kept], Size: max(size, int64(n)), Cut: max(size, int64(n)) > int64(kept)}, nil
}

func escapes(shown string) error {
	return environment.NewError(environment.KindForbidden, "path_escapes", fmt.Sprintf("%q leads out of the workspace.", shown))
}

// explain makes an error for people. What the system did not refuse was refused
// by os.Root: the path left it.
func explain(shown string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return environment.NewError(environment.KindNotFound, "file_not_found", fmt.Sprintf("There is no %q in the workspace.", shown)).Because(err)
	case errors.Is(err, fs.ErrPermission):
		return environment.NewError(environment.KindForbidden, "file_forbidden", fmt.Sprintf("The server's user may not read %q.", shown)).Because(err)
	}
	if _, refused := errors.AsType[syscall.Errno](err); !refused {
		return escapes(shown)
	}
	return environment.Unavailable("file_unreadable", fmt.Sprintf("%q could not be read on this server.", shown)).Because(err)
}

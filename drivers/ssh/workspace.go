package ssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"berth/environment"

	"github.com/pkg/sftp"
)

// workspace reads below one folder of a target.
type workspace struct {
	client *sftp.Client
	shown  string // the path as asked, cleaned
}

func (w *workspace) read(ctx context.Context, dir, name string) (environment.WorkspaceEntry, error) {
	root, err := w.client.RealPath(dir)
	if err != nil {
		return environment.WorkspaceEntry{}, w.explain(err)
	}
	file, info, err := w.walk(root, name)
	if err != nil {
		return environment.WorkspaceEntry{}, err
	}
	switch {
	case info.IsDir():
		return w.list(ctx, file)
	case info.Mode().IsRegular():
		return w.content(file, info.Size())
	}
	return environment.WorkspaceEntry{}, environment.Invalid("not_a_file", fmt.Sprintf("%q is neither a file nor a folder.", w.shown))
}

// walk follows a path from the root step by step and each link on it, so that
// every step is seen to be within the root, whatever the server's own notion of
// a real path is.
func (w *workspace) walk(root, name string) (string, fs.FileInfo, error) {
	if strings.ContainsRune(name, 0) || path.IsAbs(name) {
		return "", nil, w.escapes()
	}
	at, links := root, 0
	steps := strings.Split(name, "/")
	for len(steps) > 0 {
		step := steps[0]
		steps = steps[1:]
		switch step {
		case "", ".":
			continue
		case "..":
			if at == root {
				return "", nil, w.escapes()
			}
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, step)
		info, err := w.client.Lstat(next)
		if err != nil {
			return "", nil, w.explain(err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", nil, w.escapes()
		}
		target, err := w.client.ReadLink(next)
		if err != nil {
			return "", nil, w.explain(err)
		}
		if path.IsAbs(target) {
			within, ok := below(root, path.Clean(target))
			if !ok {
				return "", nil, w.escapes()
			}
			at, target = root, within
		}
		steps = append(strings.Split(target, "/"), steps...)
	}
	info, err := w.client.Lstat(at)
	if err != nil {
		return "", nil, w.explain(err)
	}
	return at, info, nil
}

// below returns the part of file under root.
func below(root, file string) (string, bool) {
	if file == root {
		return "", true
	}
	return strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/")
}

func (w *workspace) list(ctx context.Context, dir string) (environment.WorkspaceEntry, error) {
	infos, err := w.client.ReadDirContext(ctx, dir)
	if err != nil {
		return environment.WorkspaceEntry{}, w.explain(err)
	}
	entry := environment.WorkspaceEntry{Path: w.shown, IsDir: true, Entries: []environment.FileInfo{}, Size: int64(len(infos))}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return cmp.Compare(a.Name(), b.Name()) })
	if len(infos) > environment.MaxDirList {
		infos, entry.Cut = infos[:environment.MaxDirList], true
	}
	for _, info := range infos {
		entry.Entries = append(entry.Entries, environment.FileInfo{
			Name: info.Name(), Path: path.Join(w.shown, info.Name()), Type: typeOf(info.Mode()), Size: info.Size(), ModTime: info.ModTime().UTC(),
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

// content reads a file. Files under /proc say that they are empty and are not,
// so the end is found by reading.
func (w *workspace) content(file string, size int64) (environment.WorkspaceEntry, error) {
	f, err := w.client.Open(file)
	if err != nil {
		return environment.WorkspaceEntry{}, w.explain(err)
	}
	defer func() { _ = f.Close() }()
	buffer := make([]byte, environment.MaxFileRead+1)
	n, err := io.ReadFull(f, buffer)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return environment.WorkspaceEntry{}, w.explain(err)
	}
	cut := n > environment.MaxFileRead
	n = min(n, environment.MaxFileRead)
	return environment.WorkspaceEntry{Path: w.shown, Content: buffer[:n:n], Size: max(size, int64(n)), Cut: cut}, nil
}

func (w *workspace) escapes() error {
	return environment.NewError(environment.KindForbidden, "path_escapes", fmt.Sprintf("%q leads out of the workspace.", excerpt(w.shown)))
}

func (w *workspace) explain(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return environment.NewError(environment.KindNotFound, "file_not_found", fmt.Sprintf("There is no %q in the workspace.", excerpt(w.shown))).Because(err)
	case errors.Is(err, fs.ErrPermission):
		return environment.NewError(environment.KindForbidden, "file_forbidden", fmt.Sprintf("The user on the target may not read %q.", excerpt(w.shown))).Because(err)
	}
	return environment.Unavailable("file_unreadable", fmt.Sprintf("%q could not be read on the target.", excerpt(w.shown))).Because(err)
}

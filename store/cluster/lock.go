package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"berth/environment"

	"github.com/google/uuid"
)

// Lock is the hold on a data folder. It ends with the process, however that
// ends; no child inherits it.
type Lock struct{ file *os.File }

// LockDataDir takes the folder, which it makes when there is none, for this
// server. When another has it the error is KindConflict with code
// data_dir_in_use.
func LockDataDir(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	path := filepath.Join(dir, "berth.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer func() { _ = f.Close() }()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, inUse(dir, path)
		}
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("note who holds the data folder: %w", err), f.Close())
	}
	return &Lock{file: f}, nil
}

func inUse(dir, path string) error {
	who := "Another server"
	if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
		who += " (pid " + strings.TrimSpace(string(text)) + ")"
	}
	return environment.Conflict("data_dir_in_use", who+" runs on the data folder "+dir+".").
		Remedy("Stop it first, or start this one with another --data-dir.")
}

// Close lets go of the folder.
func (l *Lock) Close() error { return l.file.Close() }

// NodeID is the folder's own id, made on first use. By it a restarted server
// knows what its predecessor on this folder owned. The caller holds the lock.
func NodeID(dir string) (uuid.UUID, error) {
	path := filepath.Join(dir, "node-id")
	text, err := os.ReadFile(path)
	switch {
	case err == nil:
		id, err := uuid.Parse(strings.TrimSpace(string(text)))
		if err != nil {
			return uuid.Nil, fmt.Errorf("read the node id in %s: %w", path, err)
		}
		return id, nil
	case !errors.Is(err, os.ErrNotExist):
		return uuid.Nil, fmt.Errorf("read the node id: %w", err)
	}
	id := environment.NewID()
	fresh := path + ".new"
	if err := os.WriteFile(fresh, []byte(id.String()+"\n"), 0o600); err != nil {
		return uuid.Nil, fmt.Errorf("keep the node id: %w", err)
	}
	if err := os.Rename(fresh, path); err != nil {
		return uuid.Nil, fmt.Errorf("keep the node id: %w", err)
	}
	return id, nil
}

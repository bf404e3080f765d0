package fake

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// world is a folder: one folder below sandboxes for each sandbox, named after the
// lease that it was made for, with sandbox.json in it and, once they are used, its
// workspace and its home. It appears and goes in one step, by a rename.
type world struct{ dir string }

// sandbox is what sandbox.json says.
type sandbox struct {
	ID            string                    `json:"id"`
	LeaseKey      string                    `json:"leaseKey"`
	InstanceID    uuid.UUID                 `json:"instanceId"`
	EnvironmentID uuid.UUID                 `json:"environmentId"`
	CompanyID     *uuid.UUID                `json:"companyId"`
	OwnerKind     string                    `json:"ownerKind"`
	Image         environment.ImageIdentity `json:"image"`
	CreatedAt     time.Time                 `json:"createdAt"`
	Running       bool                      `json:"-"` // the file "running" is there
}

// nameOf is a sandbox's folder, the same for one lease of one installation.
func nameOf(instance uuid.UUID, key string) string {
	sum := sha256.Sum256([]byte(instance.String() + " " + cmp.Or(key, rand.Text())))
	return hex.EncodeToString(sum[:8])
}

const idPrefix = "fake-"

// newID is a fresh id within a folder's name: a second sandbox of one lease has
// another one.
func newID(name string) string { return idPrefix + name + "-" + strings.ToLower(rand.Text()[:8]) }

func (w world) folder(name string) string { return filepath.Join(w.dir, "sandboxes", name) }

// folderOf is where a sandbox of an id is, if it is there.
func (w world) folderOf(id string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(id, idPrefix), "-")
	return w.folder(filepath.Base(name))
}

// read returns the sandbox in a folder; fs.ErrNotExist for none.
func (w world) read(folder string) (sandbox, error) {
	var s sandbox
	text, err := os.ReadFile(filepath.Join(folder, "sandbox.json"))
	if err != nil {
		return s, fmt.Errorf("read a fake sandbox: %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("read a fake sandbox: %w", err)
	}
	_, err = os.Lstat(filepath.Join(folder, runningFile))
	s.Running = err == nil
	return s, nil
}

// runningFile is there while a sandbox runs, usedFile once something ran in it, so
// that ending an unused one needs no search.
const (
	runningFile = "running"
	usedFile    = "used"
)

// touch makes an empty file.
func touch(name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// makeIn does what needs a folder that is nearly always there.
func makeIn(folder string, do func() error) error {
	err := do()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return do()
}

// use makes the folders of a sandbox in which something is about to run.
func (w world) use(id string) error {
	folder := w.folderOf(id)
	for _, name := range []string{"work", "home"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("use a fake sandbox: %w", err)
		}
	}
	if err := touch(filepath.Join(folder, usedFile)); err != nil {
		return fmt.Errorf("use a fake sandbox: %w", err)
	}
	return nil
}

// get returns a sandbox by its id; fs.ErrNotExist when there is none.
func (w world) get(id string) (sandbox, error) {
	s, err := w.read(w.folderOf(id))
	if err == nil && s.ID != id {
		err = fmt.Errorf("the sandbox %s: %w", id, fs.ErrNotExist)
	}
	return s, err
}

// create makes a sandbox's folder, or returns the one that its lease has already.
func (w world) create(s sandbox) (made sandbox, isNew bool, err error) {
	name := nameOf(s.InstanceID, s.LeaseKey)
	s.ID = newID(name)
	if old, err := w.read(w.folder(name)); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return old, false, err
	}
	staging := filepath.Join(w.dir, "making", s.ID)
	text, err := json.Marshal(s)
	if err != nil {
		return s, false, fmt.Errorf("write a fake sandbox: %w", err)
	}
	if err := errors.Join(makeIn(filepath.Dir(staging), func() error { return os.Mkdir(staging, 0o755) }),
		os.WriteFile(filepath.Join(staging, "sandbox.json"), text, 0o600), w.unpack(s.Image.SnapshotID, filepath.Join(staging, "work"))); err != nil {
		return s, false, fmt.Errorf("make a fake sandbox: %w", errors.Join(err, os.RemoveAll(staging)))
	}
	err = makeIn(w.folder(""), func() error { return os.Rename(staging, w.folder(name)) })
	if err == nil {
		return s, true, nil
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) { // somebody else was faster
		old, readErr := w.read(w.folder(name))
		return old, false, errors.Join(readErr, os.RemoveAll(staging))
	}
	return s, false, fmt.Errorf("make a fake sandbox: %w", errors.Join(err, os.RemoveAll(staging)))
}

// run marks a sandbox as running or stopped; fs.ErrNotExist when it is gone.
func (w world) run(id string, running bool) error {
	s, err := w.get(id)
	if err != nil || s.Running == running {
		return err
	}
	file := filepath.Join(w.folderOf(id), runningFile)
	if running {
		err = touch(file)
	} else {
		err = os.Remove(file)
	}
	if err != nil {
		return fmt.Errorf("start or stop a fake sandbox: %w", err)
	}
	return nil
}

// destroy takes a sandbox away with what runs in it. One that is gone is no error.
func (w world) destroy(id string) error {
	if _, err := w.get(id); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	trash := filepath.Join(w.dir, "trash", id+"-"+rand.Text())
	if err := makeIn(filepath.Dir(trash), func() error { return os.Rename(w.folderOf(id), trash) }); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("destroy a fake sandbox: %w", err)
	}
	if err := end(trash, id); err != nil {
		return err
	}
	if err := os.RemoveAll(trash); err != nil {
		return fmt.Errorf("destroy a fake sandbox: %w", err)
	}
	return nil
}

// all lists every sandbox.
func (w world) all() ([]sandbox, error) {
	entries, err := os.ReadDir(w.folder(""))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the fake sandboxes: %w", err)
	}
	var found []sandbox
	for _, e := range entries {
		s, err := w.read(w.folder(e.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist): // it went meanwhile
		case err != nil:
			return nil, err
		default:
			found = append(found, s)
		}
	}
	return found, nil
}

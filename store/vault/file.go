package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"berth/environment"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
)

// ensure makes a keyset with one key when there is no file. It appears whole or
// not at all, and of two servers that do this at once one's file stays, which both
// then read.
func ensure(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // what is wrong with it is told when it is read
	}
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return fmt.Errorf("make the keyset: %w", err)
	}
	err = put(path, handle, func(made string) error {
		if err := os.Link(made, path); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return os.Remove(made)
	})
	if err != nil {
		return fmt.Errorf("make the keyset: %w", err)
	}
	return nil
}

// load reads the keyset of a file.
func load(path string) (keys, error) {
	info, err := os.Stat(path)
	if err != nil {
		return keys{}, fmt.Errorf("look at the keyset: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return keys{}, environment.NewError(environment.KindForbidden, "keyset_exposed",
			fmt.Sprintf("The keyset %s may be read or written by others (mode %04o).", path, mode)).
			Remedy("chmod 600 " + path + "; if others could have read it, enter the stored secrets again under a new keyset.")
	}
	k, err := read(path)
	if err != nil {
		return keys{}, environment.NewError(environment.KindInternal, "keyset_unreadable", "The keyset "+path+" cannot be read.").Because(err)
	}
	return k, nil
}

func read(path string) (_ keys, err error) {
	f, err := os.Open(path)
	if err != nil {
		return keys{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(f))
	if err != nil {
		return keys{}, err
	}
	return newKeys(handle)
}

// replace writes a keyset over a file. Readers see the old one or the new one,
// and when it returns the new one is on the disk.
func replace(path string, handle *keyset.Handle) error {
	return put(path, handle, func(made string) error { return os.Rename(made, path) })
}

// put writes a keyset beside path and lets place give it its name.
func put(path string, handle *keyset.Handle, place func(made string) error) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "keyset-") // 0600
	if err != nil {
		return err
	}
	werr := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(f))
	if err := errors.Join(werr, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := place(f.Name()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(dir)
}

// syncDir makes a file's new name outlive a crash.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// locked does fn while no other process changes the keyset in the same folder.
func locked(path string, fn func() error) (err error) {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }() // which lets the lock go
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock the keyset's folder: %w", err)
	}
	return fn()
}

package vault

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
)

// Rotate adds a new primary key and writes the keyset's file; what was sealed
// before still opens. When the file has more than one key, a turn
// was begun, here or by another server, and its key is taken.
func (v *Vault) Rotate() error {
	return v.change(func(k keys) (*keyset.Handle, error) {
		if len(k.marks) > 1 {
			return nil, nil
		}
		manager := keyset.NewManagerFromHandle(k.handle)
		id, err := manager.Add(aead.AES256GCMKeyTemplate())
		if err != nil {
			return nil, err
		}
		if err := manager.SetPrimary(id); err != nil {
			return nil, err
		}
		return manager.Handle()
	})
}

// Prune drops every key but the primary from the file; until the next change this
// vault still opens what they sealed. It refuses when the file has another primary
// key than this vault.
func (v *Vault) Prune() error {
	mine := v.Fingerprint()
	return v.change(func(k keys) (*keyset.Handle, error) {
		if k.fingerprints[0] != mine {
			return nil, errors.New("another server turned the key over meanwhile")
		}
		manager := keyset.NewManagerFromHandle(k.handle)
		dropped := false
		for i := range k.handle.Len() {
			entry, err := k.handle.Entry(i)
			if err != nil {
				return nil, err
			}
			if entry.IsPrimary() {
				continue
			}
			if err := manager.Delete(entry.KeyID()); err != nil {
				return nil, err
			}
			dropped = true
		}
		if !dropped {
			return nil, nil
		}
		return manager.Handle()
	})
}

// Reload reads the file again.
func (v *Vault) Reload() error {
	k, err := load(v.path)
	if err != nil {
		return err
	}
	v.take(k)
	return nil
}

func (v *Vault) take(k keys) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Equal(v.keys.fingerprints, k.fingerprints) {
		v.former, v.keys = v.keys, k
	}
}

// change writes what next makes of the file's keys, unless that is nil, and takes
// what the file then holds.
func (v *Vault) change(next func(keys) (*keyset.Handle, error)) error {
	path, err := filepath.EvalSymlinks(v.path) // the file, not a link to it, is replaced
	if err != nil {
		return err
	}
	return locked(path, func() error {
		k, err := load(path)
		if err != nil {
			return err
		}
		handle, err := next(k)
		if err != nil {
			return fmt.Errorf("change the keyset: %w", err)
		}
		if handle != nil {
			if k, err = newKeys(handle); err != nil {
				return err
			}
			if err := replace(path, handle); err != nil {
				return fmt.Errorf("write the keyset: %w", err)
			}
		}
		v.take(k)
		return nil
	})
}

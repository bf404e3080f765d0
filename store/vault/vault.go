// Package vault encrypts secret values with a keyset that lies in a file of its
// own, apart from the database that holds what it sealed.
package vault

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

var _ environment.Vault = (*Vault)(nil)

// Vault seals and opens secrets. Its methods may be called at the same time.
type Vault struct {
	aead        tink.AEAD
	fingerprint string
}

// Open returns the vault of the keyset in a file, which it makes when there is
// none. A file that others than its owner may read or write is refused with
// code keyset_exposed.
func Open(path string) (*Vault, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, fmt.Errorf("make the keyset: %w", err)
		}
		info, err = os.Stat(path)
	}
	if err != nil {
		return nil, fmt.Errorf("look at the keyset: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, environment.NewError(environment.KindForbidden, "keyset_exposed",
			fmt.Sprintf("The keyset %s may be read or written by others (mode %04o).", path, mode)).
			Remedy("chmod 600 " + path + "; if others could have read it, enter the stored secrets again under a new keyset.")
	}
	handle, err := read(path)
	if err != nil {
		return nil, environment.NewError(environment.KindInternal, "keyset_unreadable", "The keyset "+path+" cannot be read.").Because(err)
	}
	return newVault(handle)
}

func newVault(handle *keyset.Handle) (*Vault, error) {
	primitive, err := aead.New(handle)
	if err != nil {
		return nil, fmt.Errorf("use the keyset: %w", err)
	}
	keys := insecurecleartextkeyset.KeysetMaterial(handle).GetKey()
	if len(keys) == 0 {
		return nil, errors.New("the keyset holds no key")
	}
	// Of the first key alone: a rotation adds keys behind it.
	sum := sha256.Sum256(append([]byte("berth keyset\x00"), keys[0].GetKeyData().GetValue()...))
	return &Vault{aead: primitive, fingerprint: hex.EncodeToString(sum[:8])}, nil
}

func read(path string) (_ *keyset.Handle, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return insecurecleartextkeyset.Read(keyset.NewJSONReader(f))
}

// create makes a keyset with one key. The file appears whole or not at all, and
// of two servers that do this at once one's file stays, which both then read.
func create(path string) (err error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "keyset-") // 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	werr := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(f))
	if err := errors.Join(werr, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Fingerprint names the keyset without telling anything of it.
func (v *Vault) Fingerprint() string { return v.fingerprint }

// Seal implements environment.Vault. The id is part of what is authenticated, so
// that a ciphertext is worthless in another row.
func (v *Vault) Seal(id uuid.UUID, value environment.Secret) ([]byte, error) {
	sealed, err := v.aead.Encrypt([]byte(value.Reveal()), id[:])
	if err != nil {
		return nil, fmt.Errorf("seal a secret: %w", err)
	}
	return sealed, nil
}

// Open implements environment.Vault.
func (v *Vault) Open(id uuid.UUID, sealed []byte) (environment.Secret, error) {
	value, err := v.aead.Decrypt(sealed, id[:])
	if err != nil {
		return environment.Secret{}, environment.NewError(environment.KindInternal, "keyset_mismatch",
			"The stored secret was sealed with another keyset, or altered.").Because(err)
	}
	return environment.NewSecret(string(value)), nil
}

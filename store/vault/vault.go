// Package vault encrypts secret values with a keyset that lies in a file of its
// own, apart from the database that holds what it sealed.
package vault

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"berth/environment"

	"github.com/google/uuid"
)

var _ environment.Vault = (*Vault)(nil)

// Vault seals and opens secrets. Its methods may be called at the same time.
type Vault struct {
	path string

	mu   sync.RWMutex
	keys keys
	// former are the keys of before the last change of the file. They only open: what
	// somebody read from the database just before it was sealed again.
	former keys
}

// Open returns the vault of the keyset in a file, which it makes when there is
// none. A file that others than its owner may read or write is refused with
// code keyset_exposed, one that is no keyset with keyset_unreadable.
func Open(path string) (*Vault, error) {
	if err := ensure(path); err != nil {
		return nil, err
	}
	k, err := load(path)
	if err != nil {
		return nil, err
	}
	return &Vault{path: path, keys: k}, nil
}

func (v *Vault) current() keys {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.keys
}

// earlier are the former keys when one of them sealed something, else k.
func (v *Vault) earlier(k keys, sealed []byte) keys {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.former.knows(sealed) {
		return v.former
	}
	return k
}

// Fingerprint names the primary key without telling anything of it.
func (v *Vault) Fingerprint() string { return v.current().fingerprints[0] }

// Fingerprints name all keys, the primary first.
func (v *Vault) Fingerprints() []string { return slices.Clone(v.current().fingerprints) }

// Marks are what everything begins with that each key seals, the primary's first.
func (v *Vault) Marks() [][]byte { return slices.Clone(v.current().marks) }

// Seal implements environment.Vault. The id is part of what is authenticated, so
// that a ciphertext is worthless in another row.
func (v *Vault) Seal(id uuid.UUID, value environment.Secret) ([]byte, error) {
	sealed, err := v.current().aead.Encrypt([]byte(value.Reveal()), id[:])
	if err != nil {
		return nil, fmt.Errorf("seal a secret: %w", err)
	}
	return sealed, nil
}

// Open implements environment.Vault. What a key sealed that this vault does not
// know makes it read the file again: another server may have turned the key over.
func (v *Vault) Open(id uuid.UUID, sealed []byte) (environment.Secret, error) {
	k := v.current()
	var unread error
	if !k.knows(sealed) {
		unread = v.Reload()
		if k = v.current(); !k.knows(sealed) {
			k = v.earlier(k, sealed)
		}
	}
	value, err := k.aead.Decrypt(sealed, id[:])
	if err == nil {
		return environment.NewSecret(string(value)), nil
	}
	message := "The stored secret was sealed with another keyset, or altered."
	if !k.knows(sealed) {
		message = "The stored secret was sealed with a key that this server's keyset file does not hold."
	}
	return environment.Secret{}, environment.NewError(environment.KindInternal, "keyset_mismatch", message).
		Remedy("Give this server the keyset file that the other servers use.").Because(errors.Join(err, unread))
}

package environmenttest

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"berth/environment"
	"berth/environment/secrets"

	"github.com/google/uuid"
)

// Keyset is a Vault whose key can be turned over; its file is File, which several
// keysets may share as servers do. It protects nothing.
type Keyset struct {
	File *KeysetFile

	mu   sync.Mutex
	keys []byte // numbers of keys, the primary first
}

// KeysetFile is what keysets of several servers read and write.
type KeysetFile struct {
	mu   sync.Mutex
	keys []byte
	last byte
}

var _ secrets.Keyset = (*Keyset)(nil)

// NewKeysetFile returns a file with one key.
func NewKeysetFile() *KeysetFile { return &KeysetFile{keys: []byte{1}, last: 1} }

// OpenKeyset returns the keyset of a file; nil: of a file of its own.
func OpenKeyset(f *KeysetFile) *Keyset {
	if f == nil {
		f = NewKeysetFile()
	}
	k := &Keyset{File: f}
	k.keys = f.read()
	return k
}

func (f *KeysetFile) read() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.keys)
}

func (k *Keyset) current() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys
}

func markOf(key byte) []byte { return []byte{0xfe, key} }

// Marks implements secrets.Keyset.
func (k *Keyset) Marks() [][]byte {
	var all [][]byte
	for _, key := range k.current() {
		all = append(all, markOf(key))
	}
	return all
}

// Fingerprint implements secrets.Keyset.
func (k *Keyset) Fingerprint() string { return k.Fingerprints()[0] }

// Fingerprints implements secrets.Keyset.
func (k *Keyset) Fingerprints() []string {
	var all []string
	for _, key := range k.current() {
		all = append(all, fmt.Sprintf("key-%d", key))
	}
	return all
}

// Seal implements environment.Vault.
func (k *Keyset) Seal(id uuid.UUID, value environment.Secret) ([]byte, error) {
	sealed, err := Vault{}.Seal(id, value)
	return append(k.Marks()[0], sealed...), err
}

// Open implements environment.Vault.
func (k *Keyset) Open(id uuid.UUID, sealed []byte) (environment.Secret, error) {
	for range 2 {
		for _, key := range k.current() {
			if rest, ours := bytes.CutPrefix(sealed, markOf(key)); ours {
				return Vault{}.Open(id, rest)
			}
		}
		if err := k.Reload(); err != nil {
			return environment.Secret{}, err
		}
	}
	return environment.Secret{}, environment.NewError(environment.KindInternal, "keyset_mismatch", "The secret was sealed with another keyset.")
}

// Rotate implements secrets.Keyset.
func (k *Keyset) Rotate() error {
	k.File.mu.Lock()
	if len(k.File.keys) == 1 {
		k.File.last++
		k.File.keys = append([]byte{k.File.last}, k.File.keys...)
	}
	k.File.mu.Unlock()
	return k.Reload()
}

// Prune implements secrets.Keyset.
func (k *Keyset) Prune() error {
	k.File.mu.Lock()
	k.File.keys = k.File.keys[:1]
	k.File.mu.Unlock()
	return k.Reload()
}

// Reload implements secrets.Keyset.
func (k *Keyset) Reload() error {
	keys := k.File.read()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys = keys
	return nil
}

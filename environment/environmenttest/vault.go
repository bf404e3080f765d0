package environmenttest

import (
	"bytes"

	"berth/environment"

	"github.com/google/uuid"
)

// Vault keeps its word and nothing else: what it seals is not readable by eye,
// and does not open under another id. It protects nothing.
type Vault struct{}

var _ environment.Vault = Vault{}

// Seal implements environment.Vault.
func (Vault) Seal(id uuid.UUID, value environment.Secret) ([]byte, error) {
	return append(id[:], flip([]byte(value.Reveal()))...), nil
}

// Open implements environment.Vault.
func (Vault) Open(id uuid.UUID, sealed []byte) (environment.Secret, error) {
	if !bytes.HasPrefix(sealed, id[:]) {
		return environment.Secret{}, environment.NewError(environment.KindInternal, "keyset_mismatch", "The secret was sealed with another keyset.")
	}
	return environment.NewSecret(string(flip(sealed[len(id):]))), nil
}

func flip(b []byte) []byte {
	out := make([]byte, len(b))
	for i := range b {
		out[i] = b[i] ^ 0x5a
	}
	return out
}

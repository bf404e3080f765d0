package vault

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/core/cryptofmt"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// keys are a keyset as it was read. It is not changed, only replaced.
type keys struct {
	handle       *keyset.Handle
	aead         tink.AEAD
	fingerprints []string // the primary first
	marks        [][]byte // what ciphertexts begin with, in the same order
}

func newKeys(handle *keyset.Handle) (keys, error) {
	primitive, err := aead.New(handle)
	if err != nil {
		return keys{}, fmt.Errorf("use the keyset: %w", err)
	}
	k := keys{handle: handle, aead: primitive}
	material := insecurecleartextkeyset.KeysetMaterial(handle)
	for _, key := range material.GetKey() {
		prefix, err := cryptofmt.OutputPrefix(key)
		if err != nil {
			return keys{}, fmt.Errorf("use the keyset: %w", err)
		}
		if prefix == "" {
			return keys{}, errors.New("a key of the keyset does not mark what it seals")
		}
		sum := sha256.Sum256(append([]byte("berth keyset\x00"), key.GetKeyData().GetValue()...))
		fingerprint, mark := hex.EncodeToString(sum[:8]), []byte(prefix)
		if key.GetKeyId() == material.GetPrimaryKeyId() {
			k.fingerprints, k.marks = append([]string{fingerprint}, k.fingerprints...), append([][]byte{mark}, k.marks...)
			continue
		}
		k.fingerprints, k.marks = append(k.fingerprints, fingerprint), append(k.marks, mark)
	}
	if len(k.marks) == 0 {
		return keys{}, errors.New("the keyset holds no key")
	}
	return k, nil
}

// knows reports whether one of the keys can have sealed something.
func (k keys) knows(sealed []byte) bool {
	for _, mark := range k.marks {
		if bytes.HasPrefix(sealed, mark) {
			return true
		}
	}
	return false
}

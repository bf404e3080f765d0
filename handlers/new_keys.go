package handlers

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"

	"berth/environment"

	"github.com/google/uuid"
)

// newKeys keeps secrets that are not stored yet off pages: the private half of a
// generated pair, and what was typed into a form that was refused. A form carries
// them sealed, and the servers of one keyset can open them: a form may come back
// to another server than the one that it is of. Without a vault only the process
// that sealed them can, and after a restart they have to be made or typed again.
type newKeys struct {
	vault environment.Vault
	aead  cipher.AEAD
}

// formSecret is what a secret that a form carries is sealed under; no row has this
// id, so that what is stored does not open here.
func formSecret() uuid.UUID { return uuid.NewSHA1(uuid.NameSpaceURL, []byte("berth:form")) }

func newNewKeys(vault environment.Vault) newKeys {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // 32 bytes are a key
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the block size that GCM wants
	}
	return newKeys{vault, aead}
}

func (n newKeys) seal(private environment.Secret) string {
	if n.vault != nil {
		if sealed, err := n.vault.Seal(formSecret(), private); err == nil {
			return base64.RawURLEncoding.EncodeToString(sealed)
		}
	}
	return base64.RawURLEncoding.EncodeToString(n.aead.Seal(nil, nil, []byte(private.Reveal()), nil))
}

// open returns the secret of a sealed text, or an error at its field.
func (n newKeys) open(sealed, field string) (environment.Secret, error) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err == nil && n.vault != nil {
		if private, err := n.vault.Open(formSecret(), raw); err == nil {
			return private, nil
		}
	}
	if err == nil {
		raw, err = n.aead.Open(nil, nil, raw, nil)
	}
	if err != nil {
		e := environment.Invalid("generated_key_gone", "What was typed or generated here is not known any more, because the server was restarted. Enter or generate it again.")
		e.Fields = []environment.FieldError{{Field: field, Message: e.Message}}
		return environment.Secret{}, e.Because(err)
	}
	return environment.NewSecret(string(raw)), nil
}

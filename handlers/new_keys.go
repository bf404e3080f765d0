package handlers

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"

	"berth/environment"
)

// newKeys keeps secrets that are not stored yet off pages: the private half of a
// generated pair, and what was typed into a form that was refused. A form carries
// them sealed, and only the process that sealed them can open them. After a
// restart they have to be made or typed again.
type newKeys struct{ aead cipher.AEAD }

func newNewKeys() newKeys {
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
	return newKeys{aead}
}

func (n newKeys) seal(private environment.Secret) string {
	return base64.RawURLEncoding.EncodeToString(n.aead.Seal(nil, nil, []byte(private.Reveal()), nil))
}

// open returns the secret of a sealed text, or an error at its field.
func (n newKeys) open(sealed, field string) (environment.Secret, error) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
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

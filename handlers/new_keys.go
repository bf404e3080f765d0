package handlers

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"

	"berth/environment"
)

// newKeys keeps the private halves of generated pairs off pages: a form carries
// one sealed, and only the process that made it can open it. After a restart
// the pair has to be made again.
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

// open returns the key of a sealed text, or an error at the key's field.
func (n newKeys) open(sealed string) (environment.Secret, error) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err == nil {
		raw, err = n.aead.Open(nil, nil, raw, nil)
	}
	if err != nil {
		e := environment.Invalid("generated_key_gone", "The generated key is not known any more, because the server was restarted. Generate it again.")
		e.Fields = []environment.FieldError{{Field: "config.privateKey", Message: e.Message}}
		return environment.Secret{}, e.Because(err)
	}
	return environment.NewSecret(string(raw)), nil
}

package ssh

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
)

// privateKey is a key as it was read. signer is nil when it is encrypted and
// was not opened; public may then be nil too, for containers that hide it.
type privateKey struct {
	text      string // normalised: LF, one at the end
	public    gossh.PublicKey
	signer    gossh.Signer
	encrypted bool
}

// keyProblem is why a key cannot be used: the field that is wrong, the code
// that a login fails with, and the message for people.
type keyProblem struct {
	field, code, message string
}

func unreadable(message string) *keyProblem {
	return &keyProblem{field: "privateKey", code: environment.CodeKeyUnreadable, message: message}
}

// readPrivateKey reads a pasted private key and opens it with the passphrase.
// With a problem at the field "passphrase" the key returned is what could be
// read without it.
func readPrivateKey(text, passphrase string) (privateKey, *keyProblem) {
	text, message := cleanPrivateKey(text)
	if message != "" {
		return privateKey{}, unreadable(message)
	}
	key := privateKey{text: text}
	raw, err := gossh.ParseRawPrivateKey([]byte(text))
	if missing, ok := errors.AsType[*gossh.PassphraseMissingError](err); ok {
		key.encrypted, key.public = true, missing.PublicKey
		if passphrase == "" {
			return key, &keyProblem{"passphrase", environment.CodeKeyNeedsPassphrase, "The key is encrypted. Enter its passphrase."}
		}
		raw, err = gossh.ParseRawPrivateKeyWithPassphrase([]byte(text), []byte(passphrase))
		if errors.Is(err, x509.IncorrectPasswordError) {
			return key, &keyProblem{"passphrase", environment.CodeKeyNeedsPassphrase, "Wrong passphrase: the key does not open with it."}
		}
	}
	if err != nil {
		return privateKey{}, unreadable(explainKey(text, err))
	}
	signer, err := gossh.NewSignerFromKey(raw)
	if err != nil {
		return privateKey{}, unreadable("Keys of this type cannot be used. Ed25519, ECDSA and RSA can.")
	}
	key.signer, key.public = signer, signer.PublicKey()
	return key, nil
}

// withoutSHA1 keeps an RSA key from signing with SHA-1, which servers refuse. It
// returns a signer for each algorithm: servers name those that they know, not
// those that they accept, so that each has to be offered.
func withoutSHA1(signer gossh.Signer) []gossh.Signer {
	able, ok := signer.(gossh.AlgorithmSigner)
	if !ok || signer.PublicKey().Type() != gossh.KeyAlgoRSA {
		return []gossh.Signer{signer}
	}
	var signers []gossh.Signer
	for _, algorithm := range []string{gossh.KeyAlgoRSASHA512, gossh.KeyAlgoRSASHA256} {
		if one, err := gossh.NewSignerWithAlgorithms(able, []string{algorithm}); err == nil {
			signers = append(signers, one)
		}
	}
	return signers
}

// explainKey says in people's words why a well-formed container was refused.
func explainKey(text string, err error) string {
	block, _ := pem.Decode([]byte(text))
	switch {
	case block == nil:
		return "The key is damaged: its lines cannot be decoded. Paste it again, whole."
	case block.Type == "ENCRYPTED PRIVATE KEY":
		return "Encrypted PKCS #8 keys cannot be opened here. Convert it first: ssh-keygen -p -f KEYFILE"
	case block.Type == "DSA PRIVATE KEY" || strings.Contains(err.Error(), "DSA"):
		return "DSA keys are no longer accepted by SSH servers. Make an Ed25519 key."
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return "The key cannot be read: it is damaged, or of a type other than Ed25519, ECDSA or RSA."
	}
	return fmt.Sprintf("This is not a private key but %q.", block.Type)
}

// minRSABits is the size under which an RSA key is stored with a warning.
const minRSABits = 2048

// weakness returns a warning for a key that is too short; "" for any other.
func weakness(public gossh.PublicKey) string {
	if bits := keyBits(public); public.Type() == gossh.KeyAlgoRSA && bits < minRSABits {
		return fmt.Sprintf("Weak key: RSA with %d bits, where %d are the least that is safe. Make an Ed25519 key.", bits, minRSABits)
	}
	return ""
}

func keyBits(public gossh.PublicKey) int {
	switch public.Type() {
	case gossh.KeyAlgoED25519, gossh.KeyAlgoSKED25519, gossh.KeyAlgoECDSA256, gossh.KeyAlgoSKECDSA256:
		return 256
	case gossh.KeyAlgoECDSA384:
		return 384
	case gossh.KeyAlgoECDSA521:
		return 521
	}
	if holder, ok := public.(gossh.CryptoPublicKey); ok {
		if key, ok := holder.CryptoPublicKey().(*rsa.PublicKey); ok {
			return key.N.BitLen()
		}
	}
	return 0
}

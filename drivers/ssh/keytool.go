package ssh

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"strings"

	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
)

const maxComment = 200

// GenerateKey makes an Ed25519 key pair. The private half is an unencrypted
// OpenSSH key; facts.PublicKey is the line for authorized_keys.
func (d *Driver) GenerateKey(comment string) (environment.Secret, environment.KeyFacts, error) {
	comment = strings.Join(strings.Fields(comment), " ")
	if len(comment) > maxComment || hasControl(comment) {
		return environment.Secret{}, environment.KeyFacts{}, environment.Invalid("validation_failed",
			"The comment of a key has at most 200 characters.")
	}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return environment.Secret{}, environment.KeyFacts{}, fmt.Errorf("make an ed25519 key: %w", err)
	}
	block, err := gossh.MarshalPrivateKey(private, comment)
	if err != nil {
		return environment.Secret{}, environment.KeyFacts{}, fmt.Errorf("write the key: %w", err)
	}
	signer, err := gossh.NewSignerFromKey(private)
	if err != nil {
		return environment.Secret{}, environment.KeyFacts{}, fmt.Errorf("use the key: %w", err)
	}
	facts := factsOf(signer.PublicKey(), comment)
	return environment.NewSecret(string(pem.EncodeToMemory(block))), facts, nil
}

// InspectKey reads a private key, or a public one, and says what it is. An
// encrypted key is opened only when a passphrase is given; without one its
// facts are those that it shows. Errors are KindInvalid with fields
// config.privateKey or config.passphrase.
func (d *Driver) InspectKey(text, passphrase environment.Secret) (environment.KeyFacts, error) {
	if len(text.Reveal()) > environment.MaxSecret {
		return environment.KeyFacts{}, keyError(unreadable("A key has at most 64 KiB."))
	}
	if plain := strings.TrimSpace(text.Reveal()); publics.MatchString(plain) {
		public, comment, _, _, err := gossh.ParseAuthorizedKey([]byte(plain))
		if err != nil {
			return environment.KeyFacts{}, keyError(unreadable("The public key is damaged."))
		}
		return factsOf(public, comment), nil
	}
	key, problem := readPrivateKey(text.Reveal(), passphrase.Reveal())
	locked := problem != nil && problem.field == "passphrase" && passphrase.Empty() && key.public != nil
	if problem != nil && !locked {
		return environment.KeyFacts{}, keyError(problem)
	}
	facts := factsOf(key.public, "")
	facts.Encrypted = key.encrypted
	return facts, nil
}

func keyError(p *keyProblem) error {
	err := environment.Invalid(p.code, p.message).Remedy(environment.Remedy(p.code))
	err.Fields = []environment.FieldError{{Field: "config." + p.field, Message: p.message}}
	return err
}

func factsOf(public gossh.PublicKey, comment string) environment.KeyFacts {
	line := strings.TrimSpace(string(gossh.MarshalAuthorizedKey(public)))
	if comment != "" {
		line += " " + comment
	}
	return environment.KeyFacts{
		Type: public.Type(), Bits: keyBits(public), Fingerprint: gossh.FingerprintSHA256(public),
		PublicKey: line, Warning: weakness(public),
	}
}

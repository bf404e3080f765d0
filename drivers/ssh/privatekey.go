package ssh

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"regexp"
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

var (
	pemBegin = regexp.MustCompile(`-----BEGIN ([A-Z0-9 ]+)-----`)
	pemEnd   = regexp.MustCompile(`-----END ([A-Z0-9 ]+)-----`)
	base64s  = regexp.MustCompile(`^[A-Za-z0-9+/]+=*$`)
	publics  = regexp.MustCompile(`^(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\S+|sk-\S+)(?:-cert-v01@openssh\.com)? AAAA`)
)

// cleanPrivateKey undoes what a paste did to a key: CR, a missing last line
// end, blank lines, indentation, a byte-order mark, quotes, literal \n, and
// blanks in place of line ends. It returns a message when no key is in it.
func cleanPrivateKey(text string) (clean, problem string) {
	text = strings.TrimSpace(strings.TrimLeft(text, "\ufeff\u200b"))
	text = strings.NewReplacer(`\r\n`, "\n", `\n`, "\n", `\r`, "\n", "\r", "\n", "\u00a0", " ").Replace(text)
	switch {
	case text == "":
		return "", "Paste a private key."
	case strings.HasPrefix(text, "PuTTY-User-Key-File"):
		return "", "This is a PuTTY key. Convert it first: puttygen KEY.ppk -O private-openssh -o KEY"
	case publics.MatchString(text) || strings.HasPrefix(text, "---- BEGIN SSH2 PUBLIC KEY"):
		return "", "This is the public half of a key. Paste the private one: the file without .pub."
	}
	begin := pemBegin.FindStringSubmatchIndex(text)
	if begin == nil {
		return "", `No key was found: it begins with a line "-----BEGIN ... PRIVATE KEY-----", with no characters in front and its line breaks kept.`
	}
	label, rest := text[begin[2]:begin[3]], text[begin[1]:]
	switch {
	case strings.HasSuffix(label, "PUBLIC KEY"):
		return "", "This is the public half of a key. Paste the private one: the file without .pub."
	case !strings.HasSuffix(label, "PRIVATE KEY"):
		return "", fmt.Sprintf("This is not a private key but %q.", label)
	}
	end := pemEnd.FindStringSubmatchIndex(rest)
	if end == nil || rest[end[2]:end[3]] != label {
		return "", fmt.Sprintf(`The key is cut off: its last line is "-----END %s-----".`, label)
	}
	body, ok := pemBody(strings.Fields(rest[:end[0]]))
	if !ok {
		return "", "The key is damaged: between its first and last line are characters that cannot be in a key."
	}
	return "-----BEGIN " + label + "-----\n" + body + "-----END " + label + "-----\n", ""
}

// pemBody writes the words between the first and the last line as lines again,
// the headers of an old encrypted key among them.
func pemBody(words []string) (body string, ok bool) {
	var b strings.Builder
	headers := 0
	for len(words) > 1 && strings.HasSuffix(words[0], ":") {
		fmt.Fprintf(&b, "%s %s\n", words[0], words[1])
		words, headers = words[2:], headers+1
	}
	if headers > 0 {
		b.WriteByte('\n')
	}
	data := strings.Join(words, "")
	if !base64s.MatchString(data) {
		return "", false
	}
	for len(data) > 64 {
		b.WriteString(data[:64] + "\n")
		data = data[64:]
	}
	b.WriteString(data + "\n")
	return b.String(), true
}

package ssh

import (
	"fmt"
	"strings"
	"time"

	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
)

// credentials reads key, passphrase, password and certificate. A value is new
// when it is not blank; without one the reference says whether a stored value
// is kept. A passphrase is taken as it is, blanks and all.
func (f *fields) credentials(c *environment.SSHConfig, stored func(string) (environment.Secret, bool), out *environment.ConfigOutput) {
	c.PrivateKeySecretRef = f.Reference("privateKeySecretRef")
	c.PassphraseSecretRef = f.Reference("passphraseSecretRef")
	c.PasswordSecretRef = f.Reference("passwordSecretRef")
	f.password(c, out)
	if stored == nil {
		stored = func(string) (environment.Secret, bool) { return environment.Secret{}, false }
	}
	key := f.key(c, stored, out)
	c.Certificate = f.certificate(key)
}

func (f *fields) password(c *environment.SSHConfig, out *environment.ConfigOutput) {
	switch password := f.text("password"); {
	case len(password) > environment.MaxSecret:
		f.Refuse("password", "A password has at most 64 KiB.")
	case password != "":
		out.Secrets["password"] = environment.NewSecret(password)
	case c.PasswordSecretRef == nil:
		out.Drop = append(out.Drop, "password")
	}
}

// key returns the key that the config ends up with; its public half is nil when
// there is none, or when the stored one cannot be opened.
func (f *fields) key(c *environment.SSHConfig, stored func(string) (environment.Secret, bool), out *environment.ConfigOutput) privateKey {
	sent, passphrase := f.text("privateKey"), f.text("passphrase")
	fresh := strings.TrimSpace(sent) != ""
	if !fresh && c.PrivateKeySecretRef == nil {
		f.withoutKey(c, passphrase, out)
		return privateKey{}
	}
	text := sent
	if !fresh {
		opened, ok := stored("privateKey")
		if !ok {
			f.keepFacts(c, passphrase, out)
			return privateKey{}
		}
		text = opened.Reveal()
	}
	tried := passphrase
	if tried == "" && c.PassphraseSecretRef != nil && fresh {
		opened, _ := stored("passphrase")
		tried = opened.Reveal()
	}
	key, problem := readPrivateKey(text, tried)
	// A stored key that was opened with its stored passphrase once need not be
	// opened again: that takes long on purpose.
	untouched := !fresh && passphrase == "" && c.PassphraseSecretRef != nil
	if problem != nil && !(untouched && problem.field == "passphrase") {
		f.Refuse(problem.field, problem.message)
		return privateKey{}
	}
	if fresh {
		out.Secrets["privateKey"] = environment.NewSecret(key.text)
	}
	f.passphrase(c, key, passphrase, out)
	f.facts(c, key)
	return key
}

// withoutKey drops what belongs to a key when there is none.
func (f *fields) withoutKey(c *environment.SSHConfig, passphrase string, out *environment.ConfigOutput) {
	if passphrase != "" {
		f.Warn("passphrase", "There is no private key for this passphrase, so it was not stored.")
	}
	c.PassphraseSecretRef = nil
	out.Drop = append(out.Drop, "privateKey", "passphrase")
}

// keepFacts keeps what was known of a stored key that cannot be opened now.
func (f *fields) keepFacts(c *environment.SSHConfig, passphrase string, out *environment.ConfigOutput) {
	if passphrase != "" {
		out.Secrets["passphrase"] = environment.NewSecret(passphrase)
	}
	for key, fact := range map[string]**string{"keyType": &c.KeyType, "keyFingerprint": &c.KeyFingerprint} {
		if text := f.text(key); text != "" {
			*fact = &text
		}
	}
}

func (f *fields) passphrase(c *environment.SSHConfig, key privateKey, passphrase string, out *environment.ConfigOutput) {
	switch {
	case !key.encrypted:
		if passphrase != "" {
			f.Warn("passphrase", "The key is not encrypted, so the passphrase was not stored.")
		}
		c.PassphraseSecretRef = nil
		out.Drop = append(out.Drop, "passphrase")
	case passphrase != "":
		out.Secrets["passphrase"] = environment.NewSecret(passphrase)
	}
}

func (f *fields) facts(c *environment.SSHConfig, key privateKey) {
	if key.public == nil {
		f.keepFacts(c, "", nil)
		return
	}
	kind, print := key.public.Type(), gossh.FingerprintSHA256(key.public)
	c.KeyType, c.KeyFingerprint = &kind, &print
	if warning := weakness(key.public); warning != "" {
		f.Warn("privateKey", warning)
	}
}

// certificate reads the public OpenSSH certificate that goes with the key.
func (f *fields) certificate(key privateKey) *string {
	text := strings.TrimSpace(f.text("certificate"))
	if text == "" {
		return nil
	}
	cert, problem := readCertificate(text)
	switch {
	case problem != "":
		f.Refuse("certificate", problem)
		return nil
	case f.Absent("privateKeySecretRef") && strings.TrimSpace(f.text("privateKey")) == "":
		f.Refuse("certificate", "A certificate needs its private key.")
		return nil
	case key.public != nil && string(key.public.Marshal()) != string(cert.Key.Marshal()):
		f.Refuse("certificate", fmt.Sprintf("The certificate belongs to another key (%s).", gossh.FingerprintSHA256(cert.Key)))
		return nil
	}
	if until := cert.ValidBefore; until != gossh.CertTimeInfinity && until < 1<<62 {
		f.Warn("certificate", "The certificate is valid until "+time.Unix(int64(until), 0).UTC().Format("2006-01-02 15:04")+" UTC.")
	}
	line := strings.TrimSpace(string(gossh.MarshalAuthorizedKey(cert)))
	return &line
}

// readCertificate reads a certificate line; problem is for people.
func readCertificate(text string) (cert *gossh.Certificate, problem string) {
	public, _, _, _, err := gossh.ParseAuthorizedKey([]byte(text))
	if err != nil {
		return nil, "This is not an OpenSSH certificate: paste the line of the file that ends in -cert.pub."
	}
	cert, ok := public.(*gossh.Certificate)
	switch {
	case !ok:
		return nil, "This is a public key, not a certificate: paste the line of the file that ends in -cert.pub."
	case cert.CertType != gossh.UserCert:
		return nil, "This is a host's certificate; a login needs a user's."
	}
	return cert, ""
}

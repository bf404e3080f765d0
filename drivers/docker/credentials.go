package docker

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"strings"

	"berth/environment"
)

// credentials reads what an engine and a registry are logged in to with. A secret
// is new when its value is not blank; without one its reference says whether a
// stored value is kept.
func (f *fields) credentials(c *config, stored func(string) (environment.Secret, bool), out *environment.ConfigOutput) {
	e, _ := parseEngine(c.Engine)
	refs := map[string]**environment.SecretRef{
		"tlsKey": &c.TLSKey, "sshPrivateKey": &c.SSHPrivateKey, "sshPassphrase": &c.SSHPassphrase,
		"sshPassword": &c.SSHPassword, "registryPassword": &c.RegistryPassword,
	}
	wanted := append(secretsOf(e.scheme), "registryPassword")
	sent := map[string]string{}
	for name, ref := range refs {
		*ref = f.Reference(secretFields()[name])
		sent[name] = f.Text(name, environment.MaxSecret)
	}
	for _, name := range engineSecrets() {
		if !slices.Contains(wanted, name) {
			f.unwanted(name, sent[name] != "")
			*refs[name], sent[name] = nil, ""
		}
	}
	c.TLSCA, c.TLSCert, c.SSHKnownHosts = f.pem("tlsCA"), f.pem("tlsCert"), f.knownHosts()
	if e.scheme != overTCP {
		f.unwanted("tlsCA", c.TLSCA != "")
		f.unwanted("tlsCert", c.TLSCert != "")
		c.TLSCA, c.TLSCert = "", ""
	}
	if e.scheme != overSSH {
		f.unwanted("sshKnownHosts", c.SSHKnownHosts != "")
		c.SSHKnownHosts = ""
	}
	c.RegistryUsername = f.text("registryUsername", 255)
	if c.RegistryUsername == "" && (sent["registryPassword"] != "" || c.RegistryPassword != nil) {
		f.Refuse("registryUsername", "Enter the user name that belongs to the password.")
	}
	for name, ref := range refs {
		switch {
		case strings.TrimSpace(sent[name]) != "":
			out.Secrets[name] = environment.NewSecret(sent[name])
		case *ref == nil:
			out.Drop = append(out.Drop, name)
		}
	}
	f.pair(c, sent["tlsKey"], stored)
}

// unwanted warns of a value that belongs to another kind of engine.
func (f *fields) unwanted(key string, sent bool) {
	if sent {
		f.Warn(key, "The chosen engine has no use for this, so it was not stored.")
	}
}

// pem reads certificates in PEM.
func (f *fields) pem(key string) string {
	text := f.text(key, maxText)
	if text == "" {
		return ""
	}
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(text)) {
		f.Refuse(key, "This is no certificate in PEM: paste it whole, from -----BEGIN CERTIFICATE----- to its last line.")
	}
	return text + "\n"
}

func (f *fields) knownHosts() string {
	text := f.text("sshKnownHosts", maxKnown)
	if text == "" {
		return ""
	}
	return strings.ReplaceAll(text, "\r\n", "\n") + "\n"
}

// pair checks that the client's certificate and key belong together, as far as
// both are known.
func (f *fields) pair(c *config, key string, stored func(string) (environment.Secret, bool)) {
	if key == "" && c.TLSKey != nil && stored != nil {
		opened, _ := stored("tlsKey")
		key = opened.Reveal()
	}
	switch {
	case key == "":
		return
	case c.TLSCert == "":
		f.Refuse("tlsCert", "Enter the certificate that belongs to the key.")
		return
	}
	if _, err := tls.X509KeyPair([]byte(c.TLSCert), []byte(key)); err != nil {
		f.Refuse("tlsKey", "This is not the certificate's private key in PEM, without a passphrase.")
	}
}

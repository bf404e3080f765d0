package environment

import (
	"net"
	"strconv"
	"strings"
)

// SSHConfig is the stored config of an ssh environment. The keys are
// Paperclip's, then ours. It never holds a secret value.
type SSHConfig struct {
	Host                string `json:"host"` // no brackets, no port
	Port                int    `json:"port"` // 1 to 65535, 22 by default
	Username            string `json:"username"`
	RemoteWorkspacePath string `json:"remoteWorkspacePath"` // absolute, or under ~/

	// PrivateKey is always null in a stored config; a request sends the key in
	// it and the reference is kept in PrivateKeySecretRef.
	PrivateKey            *string    `json:"privateKey"`
	PrivateKeySecretRef   *SecretRef `json:"privateKeySecretRef"`
	KnownHosts            *string    `json:"knownHosts"` // OpenSSH known_hosts lines, for the target and its jump hosts
	StrictHostKeyChecking bool       `json:"strictHostKeyChecking"`

	PassphraseSecretRef *SecretRef `json:"passphraseSecretRef"`
	PasswordSecretRef   *SecretRef `json:"passwordSecretRef"`
	// Certificate is the public OpenSSH certificate that goes with the key.
	Certificate *string `json:"certificate"`
	// UseAgent offers the keys of the agent of the user who runs the server.
	UseAgent bool `json:"useAgent"`
	// ProxyJump is OpenSSH's: "user@bastion:22,inner". Each hop is verified by
	// the lines of KnownHosts and logged in to with the same credentials.
	ProxyJump     *string  `json:"proxyJump"`
	RequiredTools []string `json:"requiredTools"`
	// KeepAliveSec is the interval of keep-alive requests, 15 by default; 0 is off.
	KeepAliveSec int `json:"keepAliveSec"`
	// MinFreeMB is the least free disk in the workspace that is not a warning.
	MinFreeMB int `json:"minFreeMB"`

	// Facts that the driver adds when it normalises, for people to see.
	KeyType        *string `json:"keyType"`        // "ssh-ed25519", ...
	KeyFingerprint *string `json:"keyFingerprint"` // "SHA256:..."
}

// Defaults of an ssh config, for the driver and for a blank form alike.
const (
	DefaultSSHPort      = 22
	DefaultKeepAliveSec = 15
	DefaultMinFreeMB    = 100
)

// SSHSecretFields are the names under which a request sends secrets, each with
// the key under which its reference is stored.
func SSHSecretFields() map[string]string {
	return map[string]string{
		"privateKey": "privateKeySecretRef",
		"passphrase": "passphraseSecretRef",
		"password":   "passwordSecretRef",
	}
}

// Address is host and port as one dials and shows them: IPv6 in brackets.
func (c SSHConfig) Address() string { return net.JoinHostPort(c.Host, strconv.Itoa(c.Port)) }

// Target is "user@host:port", as a page shows it.
func (c SSHConfig) Target() string { return c.Username + "@" + c.Address() }

// KnownHostsName is the name of a host in a known_hosts line: brackets only
// with a port other than 22.
func KnownHostsName(host string, port int) string {
	if port == 22 {
		return host
	}
	return "[" + host + "]:" + strconv.Itoa(port)
}

// CleanHost trims a host and takes one pair of brackets off an IPv6 literal. It
// returns a message for a person when the result cannot be a host.
func CleanHost(text string) (host, problem string) {
	host = strings.TrimSpace(text)
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
		if !strings.Contains(host, ":") {
			return "", "Brackets belong around an IPv6 address only."
		}
	}
	bare, _, _ := strings.Cut(host, "%") // a zone
	switch {
	case host == "":
		return "", "Enter a host name or an address."
	case len(host) > 255:
		return "", "A host name has at most 255 characters."
	case strings.Contains(host, ":") && net.ParseIP(bare) == nil:
		return "", "Enter the host without a port; the port has its own field."
	case strings.HasPrefix(host, "-"):
		return "", "A host cannot begin with a dash."
	case strings.ContainsFunc(host, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("@/\\[]\"'`,;|<>(){}$&*?!#", r) || r == 0x7f
	}):
		return "", "A host name has letters, digits, dots and dashes."
	}
	return host, ""
}

package environment

// HostKey is one key that an SSH server presented.
type HostKey struct {
	Type           string `json:"type"`           // "ssh-ed25519", ...
	Fingerprint    string `json:"fingerprint"`    // "SHA256:..."
	KnownHostsLine string `json:"knownHostsLine"` // ready to be pinned
}

// KeyFacts is what may be shown of a private or public key.
type KeyFacts struct {
	Type        string `json:"type"`
	Bits        int    `json:"bits"`
	Fingerprint string `json:"fingerprint"`
	PublicKey   string `json:"publicKey"` // authorized_keys line
	Encrypted   bool   `json:"encrypted"`
	Warning     string `json:"warning,omitempty"` // "weak key: ..."
}

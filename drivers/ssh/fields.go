package ssh

import "berth/drivers/settings"

// fields reads a config as sent.
type fields struct{ *settings.Reader }

// text reads a string; "" when it is absent or refused.
func (f *fields) text(key string) string { return f.Text(key, 0) }

func configKeys() []string {
	return []string{
		"host", "port", "username", "remoteWorkspacePath", "privateKey", "privateKeySecretRef", "knownHosts",
		"strictHostKeyChecking", "passphrase", "passphraseSecretRef", "password", "passwordSecretRef", "certificate",
		"useAgent", "proxyJump", "requiredTools", "keepAliveSec", "minFreeMB", "keyType", "keyFingerprint",
	}
}

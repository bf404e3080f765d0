package ssh_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"berth/drivers/ssh/sshdtest"
	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
)

// container makes a key of one of the containers of C19 and returns its file.
func container(t testing.TB, dir, name string) string {
	t.Helper()
	file := filepath.Join(dir, strings.ReplaceAll(name, " ", "_"))
	args := map[string][]string{
		"ed25519 OPENSSH":   {"-t", "ed25519"},
		"rsa 2048 PEM":      {"-t", "rsa", "-b", "2048", "-m", "PEM"},
		"rsa PKCS8":         {"-t", "rsa", "-b", "2048", "-m", "PKCS8"},
		"ecdsa 256 OPENSSH": {"-t", "ecdsa", "-b", "256"},
		"ecdsa 384 PEM":     {"-t", "ecdsa", "-b", "384", "-m", "PEM"},
		"ecdsa 521 PKCS8":   {"-t", "ecdsa", "-b", "521", "-m", "PKCS8"},
		"rsa 1024":          {"-t", "rsa", "-b", "1024"},
	}[name]
	if args != nil {
		sshdtest.Keygen(t, file, append(args, "-N", "")...)
		return file
	}
	if out, err := exec.Command("openssl", "genpkey", "-algorithm", "ed25519", "-out", file).CombinedOutput(); err != nil {
		t.Fatalf("openssl: %v: %s", err, out)
	}
	return file
}

// publicOf is the authorized_keys line of a private key, by x/crypto: OpenSSH
// itself cannot read what openssl made.
func publicOf(t testing.TB, private string) string {
	t.Helper()
	signer, err := gossh.ParsePrivateKey([]byte(private))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(gossh.MarshalAuthorizedKey(signer.PublicKey())))
}

func TestC19_KeyContainers(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d, dir := newDriver(t), t.TempDir()
	for _, c := range []struct{ name, keyType string }{
		{"ed25519 OPENSSH", "ssh-ed25519"}, {"rsa 2048 PEM", "ssh-rsa"}, {"rsa PKCS8", "ssh-rsa"}, {"ecdsa 256 OPENSSH", "ecdsa-sha2-nistp256"},
		{"ecdsa 384 PEM", "ecdsa-sha2-nistp384"}, {"ecdsa 521 PKCS8", "ecdsa-sha2-nistp521"}, {"ed25519 of openssl", "ssh-ed25519"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := container(t, dir, c.name)
			private := readFile(t, file)
			public := publicOf(t, private)
			if err := os.WriteFile(file+".check", []byte(public+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := configure(t, d, settings(s, map[string]any{"privateKey": private}), nil)
			if err != nil {
				t.Fatal(fieldsOf(err))
			}
			saved := decode(t, out)
			if want := sshdtest.Fingerprint(t, file+".check"); *saved.KeyType != c.keyType || *saved.KeyFingerprint != want {
				t.Errorf("saved %s %s, want %s %s", *saved.KeyType, *saved.KeyFingerprint, c.keyType, want)
			}
			if len(out.Warnings) > 0 {
				t.Errorf("warnings %v", out.Warnings)
			}
			s.Authorize(public)
			mustPass(t, probe(t, d, environment.Spec{Config: out.Config, Secrets: out.Secrets}))
		})
	}
	t.Run("rsa 1024", func(t *testing.T) {
		out, err := configure(t, d, settings(s, map[string]any{"privateKey": readFile(t, container(t, dir, "rsa 1024"))}), nil)
		if err != nil {
			t.Fatal(fieldsOf(err))
		}
		if len(out.Warnings) != 1 || out.Warnings[0].Field != "config.privateKey" {
			t.Fatalf("warnings %v, want one at config.privateKey", out.Warnings)
		}
		contains(t, out.Warnings[0].Message, "Weak key", "1024")
	})
}

func readFile(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// pastes are what browsers, JSON and YAML do to a key: C14 and C18.
func pastes(private string) map[string]string {
	return map[string]string{
		"C14a no last line end":  strings.TrimSuffix(private, "\n"),
		"C14b CRLF":              strings.ReplaceAll(private, "\n", "\r\n"),
		"C14c blank lines":       "\n\n" + private + "\n\n",
		"C18 literal line ends":  strings.ReplaceAll(private, "\n", `\n`),
		"C18 literal CRLF":       strings.ReplaceAll(private, "\n", `\r\n`),
		"C18 indented":           "   " + strings.ReplaceAll(strings.TrimSuffix(private, "\n"), "\n", "\n   "),
		"C18 byte-order mark":    "\ufeff" + private,
		"C18 blanks for breaks":  strings.ReplaceAll(private, "\n", " "),
		"in quotes":              `"` + strings.ReplaceAll(private, "\n", `\n`) + `"`,
		"behind a YAML key":      "key: |\n  " + strings.ReplaceAll(private, "\n", "\n  "),
		"with no-break spaces":   strings.ReplaceAll(private, "\n", "\u00a0"),
		"old Macintosh line end": strings.ReplaceAll(private, "\n", "\r"),
	}
}

func TestC14_C18_PastedKeys(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	for name, text := range pastes(s.PrivateKey) {
		t.Run(name, func(t *testing.T) {
			out, err := configure(t, d, settings(s, map[string]any{"privateKey": text}), nil)
			if err != nil {
				t.Fatal(fieldsOf(err))
			}
			stored := out.Secrets["privateKey"].Reveal()
			if strings.Contains(stored, "\r") || !strings.HasSuffix(stored, "-----\n") || strings.HasSuffix(stored, "\n\n") {
				t.Errorf("stored with wrong line ends: %q", stored)
			}
			file := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(file, []byte(stored), 0o600); err != nil {
				t.Fatal(err)
			}
			public, err := exec.Command("ssh-keygen", "-y", "-f", file).CombinedOutput()
			if err != nil || !strings.HasPrefix(s.PublicKey, strings.Join(strings.Fields(string(public))[:2], " ")) {
				t.Errorf("ssh-keygen -y: %v: %s", err, public)
			}
			mustPass(t, probe(t, d, environment.Spec{Config: out.Config, Secrets: out.Secrets}))
		})
	}
}

func TestC15_Passphrases(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	for _, c := range []struct{ name, format string }{{"OPENSSH", ""}, {"PEM", "PEM"}} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "k")
			args := []string{"-t", "ed25519", "-a", "1", "-N", "pass one"}
			if c.format != "" {
				args = []string{"-t", "rsa", "-b", "2048", "-m", c.format, "-N", "pass one"}
			}
			private := sshdtest.Keygen(t, file, args...)
			s.Authorize(readFile(t, file+".pub"))
			messages := map[string]bool{}
			for _, passphrase := range []string{"", "wrong", "pass one ", "passone"} {
				_, err := configure(t, d, settings(s, map[string]any{"privateKey": private, "passphrase": passphrase}), nil)
				message := fieldsOf(err)["config.passphrase"]
				if message == "" {
					t.Errorf("passphrase %q: no error at config.passphrase: %v", passphrase, err)
				}
				messages[message] = true
			}
			if len(messages) != 2 {
				t.Errorf("messages for none and wrong ones: %v", messages)
			}
			out, err := configure(t, d, settings(s, map[string]any{"privateKey": private, "passphrase": "pass one"}), nil)
			if err != nil {
				t.Fatal(fieldsOf(err))
			}
			mustPass(t, probe(t, d, environment.Spec{Config: out.Config, Secrets: out.Secrets}))
		})
	}
}

func TestConfigure_StoredSecrets(t *testing.T) {
	t.Parallel()
	d, dir := newDriver(t), t.TempDir()
	locked := sshdtest.Keygen(t, filepath.Join(dir, "locked"), "-t", "ed25519", "-a", "1", "-N", "pass one")
	open := sshdtest.Keygen(t, filepath.Join(dir, "open"), "-t", "ed25519", "-N", "")
	ref := environment.RefTo(environment.NewID())
	for _, c := range []struct {
		name    string
		sent    map[string]any
		stored  map[string]string
		secrets string // names of new secrets
		drop    string
		field   string // of the error
	}{
		{"kept", map[string]any{"privateKeySecretRef": ref}, map[string]string{"privateKey": open}, "", "password passphrase", ""},
		{"blank keeps", map[string]any{"privateKeySecretRef": ref, "privateKey": " ", "passwordSecretRef": ref}, map[string]string{"privateKey": open}, "", "passphrase", ""},
		{"null removes", map[string]any{"privateKey": nil}, nil, "", "password privateKey passphrase", ""},
		{"new passphrase on the stored key", map[string]any{"privateKeySecretRef": ref, "passphrase": "pass one"}, map[string]string{"privateKey": locked}, "passphrase", "password", ""},
		{"wrong passphrase on the stored key", map[string]any{"privateKeySecretRef": ref, "passphrase": "x"}, map[string]string{"privateKey": locked}, "", "", "config.passphrase"},
		{"passphrase removed from a stored key", map[string]any{"privateKeySecretRef": ref}, map[string]string{"privateKey": locked}, "", "", "config.passphrase"},
		{"both stored", map[string]any{"privateKeySecretRef": ref, "passphraseSecretRef": ref}, map[string]string{"privateKey": locked, "passphrase": "pass one"}, "", "password", ""},
		{"new key with the stored passphrase", map[string]any{"privateKey": locked, "privateKeySecretRef": ref, "passphraseSecretRef": ref}, map[string]string{"privateKey": open, "passphrase": "pass one"}, "privateKey", "password", ""},
		{"new key that needs no passphrase", map[string]any{"privateKey": open, "privateKeySecretRef": ref, "passphraseSecretRef": ref}, map[string]string{"privateKey": locked, "passphrase": "pass one"}, "privateKey", "password passphrase", ""},
		{"stored key that cannot be opened", map[string]any{"privateKeySecretRef": ref, "keyType": "ssh-ed25519", "keyFingerprint": "SHA256:x"}, nil, "", "password", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := configure(t, d, plain(c.sent), c.stored)
			if c.field != "" {
				if fieldsOf(err)[c.field] == "" {
					t.Errorf("no error at %s: %v", c.field, err)
				}
				return
			}
			if err != nil {
				t.Fatal(fieldsOf(err))
			}
			var names []string
			for name := range out.Secrets {
				names = append(names, name)
			}
			if got := strings.Join(names, " "); got != c.secrets {
				t.Errorf("new secrets %q, want %q", got, c.secrets)
			}
			if got := strings.Join(out.Drop, " "); got != c.drop {
				t.Errorf("dropped %q, want %q", got, c.drop)
			}
			saved := decode(t, out)
			if _, sent := c.sent["privateKeySecretRef"]; sent && (saved.KeyType == nil || saved.PrivateKeySecretRef == nil) {
				t.Errorf("facts or reference are gone: %s", out.Config)
			}
			if strings.Contains(string(out.Config), "PRIVATE KEY") {
				t.Errorf("the key is in the config: %s", out.Config)
			}
		})
	}
}

func TestKeyTool(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	private, facts, err := d.GenerateKey(" berth  at box ")
	if err != nil {
		t.Fatal(err)
	}
	if facts.Type != "ssh-ed25519" || facts.Bits != 256 || !strings.HasSuffix(facts.PublicKey, " berth at box") {
		t.Errorf("facts %+v", facts)
	}
	seen, err := d.InspectKey(private, environment.Secret{})
	if err != nil || seen.Fingerprint != facts.Fingerprint || seen.Encrypted {
		t.Errorf("inspected %+v, %v", seen, err)
	}
	public, err := d.InspectKey(environment.NewSecret(facts.PublicKey), environment.Secret{})
	if err != nil || public.Fingerprint != facts.Fingerprint {
		t.Errorf("inspected the public half: %+v, %v", public, err)
	}
	file := filepath.Join(t.TempDir(), "k")
	locked := environment.NewSecret(sshdtest.Keygen(t, file, "-t", "ed25519", "-a", "1", "-N", "one"))
	want := sshdtest.Fingerprint(t, file+".pub")
	for passphrase, field := range map[string]string{"": "", "one": "", "two": "config.passphrase"} {
		seen, err := d.InspectKey(locked, environment.NewSecret(passphrase))
		if field == "" && (err != nil || !seen.Encrypted || seen.Fingerprint != want) {
			t.Errorf("passphrase %q: %+v, %v", passphrase, seen, err)
		}
		if field != "" && fieldsOf(err)[field] == "" {
			t.Errorf("passphrase %q: no error at %s: %v", passphrase, field, err)
		}
	}
	if _, err := d.InspectKey(environment.NewSecret("rubbish"), environment.Secret{}); environment.CodeOf(err) != environment.CodeKeyUnreadable {
		t.Errorf("rubbish: %v", err)
	}
}

package ssh

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
)

const fuzzKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB1kpYdHmqNwKpGF9oJ3XDFUbEpaKT5tw4tU7Hj9bZ8E"

// FuzzKnownHosts: what is accepted is stored in a form that says the same and
// stays as it is, and the editor of known_hosts texts in environment means the
// same hosts by it.
func FuzzKnownHosts(f *testing.F) {
	for _, seed := range []string{
		"box " + fuzzKey, "[127.0.0.1]:2222 " + fuzzKey + " comment\r\n# c\r\n\r\n", "[::1] " + fuzzKey, "::1 " + fuzzKey, "[::1]:22 " + fuzzKey,
		"@cert-authority *.test " + fuzzKey, "@revoked * " + fuzzKey, "@other x " + fuzzKey, "a,!b,c?d* " + fuzzKey, "box:2222 " + fuzzKey,
		"|1|F1E1KeoE/eEWhi10WpGv4OdiO6Y=|3988QV0VE8wmZL7suNrYQLITLCg= " + fuzzKey, "|1|x|y " + fuzzKey, fuzzKey, "box ssh-rsa AAAA", "box", "\ufeffbox " + fuzzKey,
		"BOX.Test,0:0:0:0:0:0:0:1,[10.0.0.1]:*  " + fuzzKey, "!box " + fuzzKey,
	} {
		f.Add(seed, "box", 22)
	}
	f.Fuzz(func(t *testing.T, text, host string, port int) {
		stored := cleanKnownHosts(text)
		if cleanKnownHosts(stored) != stored {
			t.Fatalf("not stable: %q becomes %q", stored, cleanKnownHosts(stored))
		}
		lines, problems := parseKnownHosts(stored)
		if len(lines)+len(problems) > strings.Count(stored, "\n") {
			t.Fatalf("%d lines and %d problems of %q", len(lines), len(problems), stored)
		}
		host, problem := environment.CleanHost(host)
		if len(problems) > 0 || problem != "" || port < 1 || port > 65535 {
			return
		}
		ep := endpoint{host: host, port: port}
		var got, want []string
		for _, key := range pinsFor(lines, ep).keys {
			got = append(got, gossh.FingerprintSHA256(key))
		}
		for _, pin := range environment.KnownHostsPins(stored, ep.name()) {
			want = append(want, pin.Fingerprint)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("pins of %q in %q: driver %v, editor %v", ep.name(), stored, got, want)
		}
	})
}

// FuzzWildcard compares with the same pattern as a regular expression.
func FuzzWildcard(f *testing.F) {
	for _, seed := range [][2]string{{"*", ""}, {"a*b?c", "axxbyc"}, {"**a*", "ba"}, {"?", ""}, {"*.test", "x.test"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		ascii := func(r rune) bool { return r > 0x7e || r < ' ' }
		if len(pattern) > 30 || len(name) > 60 || strings.ContainsFunc(pattern+name, ascii) {
			return
		}
		quoted := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern))
		if want := regexp.MustCompile("^" + quoted + "$").MatchString(name); matchWildcard(pattern, name) != want {
			t.Fatalf("pattern %q, name %q: want %v", pattern, name, want)
		}
	})
}

// FuzzPrivateKey: what is taken for a key is stored in a form that stays as it
// is and holds no more than one key.
func FuzzPrivateKey(f *testing.F) {
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n-----END OPENSSH PRIVATE KEY-----\n"
	for _, seed := range []string{
		key, strings.ReplaceAll(key, "\n", "\r\n"), strings.ReplaceAll(key, "\n", " "), strings.ReplaceAll(key, "\n", `\n`), "\ufeff" + key, key + key,
		"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\nAAAA\n-----END RSA PRIVATE KEY-----", "PuTTY-User-Key-File-3: x",
		"-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----", "-----BEGIN EC PRIVATE KEY-----AAAA-----END RSA PRIVATE KEY-----", fuzzKey, "", " ",
		"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----", "---- BEGIN SSH2 PUBLIC KEY ----",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		clean, problem := cleanPrivateKey(text)
		if (clean == "") != (problem != "") {
			t.Fatalf("key %q and problem %q", clean, problem)
		}
		if problem != "" {
			return
		}
		if again, problem := cleanPrivateKey(clean); again != clean {
			t.Fatalf("not stable: %q becomes %q (%s)", clean, again, problem)
		}
		if strings.ContainsAny(clean, "\r\ufeff") || !strings.HasSuffix(clean, "-----\n") || strings.Count(clean, "-----BEGIN") != 1 {
			t.Fatalf("stored as %q", clean)
		}
		if key, problem := readPrivateKey(clean, ""); problem == nil && key.signer == nil {
			t.Fatal("a key that was read cannot sign")
		}
	})
}

// FuzzProxyJump: what is accepted is stored in a form that means the same hops.
func FuzzProxyJump(f *testing.F) {
	for _, seed := range []string{"a", "u@a:22,b", "[::1]:22", "::1", "none", "u@[fe80::1%eth0]:2200", "ssh://u@h:1", "-x", "a:0", ",", "u@v@h", "[a]:22"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hops, problem := parseProxyJump(text)
		if problem != "" {
			return
		}
		again, problem := parseProxyJump(formatProxyJump(hops))
		if problem != "" || !slices.Equal(hops, again) {
			t.Fatalf("%q: %v is stored as %q, which is %v (%s)", text, hops, formatProxyJump(hops), again, problem)
		}
		for _, hop := range hops {
			if strings.HasPrefix(hop.host, "-") || strings.HasPrefix(hop.user, "-") || hop.port < 1 || hop.port > 65535 {
				t.Fatalf("%q: accepted %+v", text, hop)
			}
		}
	})
}

// FuzzClientConfig: whatever is pasted, what comes out of it may be saved.
func FuzzClientConfig(f *testing.F) {
	for _, seed := range []string{
		"Host a\n HostName b\n Port 22\n User u\n ProxyJump c\n", "Host *\nHost a b\n", "Include /etc/passwd\nHost a\n", "Match all\nHost a\n", "Host \"a b\"\n", "Host a\n Port=\n",
		"Host a\n\tHostName %h.x\n", "Host !a b\n", "Host a # c\n", "HostName ::1", "Host a\nHostName [::1]\n", " include x\n", "\"Include\" x\n", "Host a\nServerAliveInterval 9\n",
	} {
		f.Add(seed)
	}
	d := New(Options{})
	f.Fuzz(func(t *testing.T, text string) {
		config, _, err := d.ReadClientConfig(text)
		if err != nil {
			if environment.KindOf(err) != environment.KindInvalid {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if host, ok := config["host"].(string); ok {
			if clean, problem := environment.CleanHost(host); problem != "" || clean != host {
				t.Fatalf("%q: host %q: %s", text, host, problem)
			}
		}
		if port, ok := config["port"].(int); ok && (port < 1 || port > 65535) {
			t.Fatalf("%q: port %d", text, port)
		}
		if jump, ok := config["proxyJump"].(string); ok {
			if _, problem := parseProxyJump(jump); problem != "" {
				t.Fatalf("%q: jump %q: %s", text, jump, problem)
			}
		}
	})
}

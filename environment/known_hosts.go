package environment

import (
	"crypto/hmac"
	"crypto/sha1" // what OpenSSH hashes host names with
	"crypto/sha256"
	"encoding/base64"
	"net/netip"
	"path"
	"strings"
)

// A known_hosts text as people and OpenSSH write it: one line a key, comments
// and blank lines kept. These functions edit lines; who may log in with what is
// judged by the driver.

// KnownHostsPins returns the keys that a text pins for a name as
// KnownHostsName writes it. Lines with a marker (@cert-authority, @revoked) pin
// nothing.
func KnownHostsPins(text, name string) []HostKey {
	var pins []HostKey
	for _, raw := range strings.Split(text, "\n") {
		if l, ok := parseHostLine(raw); ok && l.marker == "" && l.matches(name) {
			pins = append(pins, l.key())
		}
	}
	return pins
}

// KnownHostsRevokes reports whether a text marks the key of a line as revoked,
// for whatever host.
func KnownHostsRevokes(text, line string) bool {
	key, ok := parseHostLine(line)
	if !ok {
		return false
	}
	for _, raw := range strings.Split(text, "\n") {
		if l, ok := parseHostLine(raw); ok && l.marker == "@revoked" && l.blob == key.blob {
			return true
		}
	}
	return false
}

// KnownHostsWithout takes the pins of a name out of a text. A line that also
// names other hosts stays for those; a pattern gets an exception.
func KnownHostsWithout(text, name string) string {
	lines := strings.Split(text, "\n")
	kept := lines[:0]
	for _, raw := range lines {
		l, ok := parseHostLine(raw)
		if !ok || l.marker != "" || !l.matches(name) {
			kept = append(kept, raw)
			continue
		}
		if hosts := l.hostsWithout(name); hosts != "" {
			kept = append(kept, strings.Replace(raw, l.hosts, hosts, 1))
		}
	}
	return strings.Join(kept, "\n")
}

// KnownHostsWith appends a line to a text. The result ends with one line break
// and begins with none.
func KnownHostsWith(text, line string) string {
	if text = strings.Trim(text, "\n"); text != "" {
		text += "\n"
	}
	return text + strings.TrimSpace(line) + "\n"
}

// KnownHostsLineName is the first host name of a line; "" when the text is no
// line of a key.
func KnownHostsLineName(line string) string {
	l, ok := parseHostLine(line)
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(l.hosts, ",")
	return name
}

// hostLine is a known_hosts line taken apart.
type hostLine struct {
	marker, hosts, algorithm, blob, text string
}

func parseHostLine(raw string) (hostLine, bool) {
	text := strings.TrimSpace(raw)
	if text == "" || strings.HasPrefix(text, "#") {
		return hostLine{}, false
	}
	fields := strings.Fields(text)
	l := hostLine{text: text}
	if strings.HasPrefix(fields[0], "@") {
		l.marker, fields = fields[0], fields[1:]
	}
	if len(fields) < 3 {
		return hostLine{}, false
	}
	l.hosts, l.algorithm, l.blob = fields[0], fields[1], fields[2]
	return l, true
}

func (l hostLine) key() HostKey {
	k := HostKey{Type: l.algorithm, KnownHostsLine: l.text}
	if wire, err := base64.StdEncoding.DecodeString(l.blob); err == nil {
		sum := sha256.Sum256(wire)
		k.Fingerprint = "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
	}
	return k
}

// matches reports whether the line speaks of a name. A negated pattern that
// matches takes the whole line away, as in OpenSSH.
func (l hostLine) matches(name string) bool {
	found := false
	for pattern := range strings.SplitSeq(l.hosts, ",") {
		negated := strings.HasPrefix(pattern, "!")
		if !hostMatch(strings.TrimPrefix(pattern, "!"), name) {
			continue
		}
		if negated {
			return false
		}
		found = true
	}
	return found
}

func (l hostLine) hostsWithout(name string) string {
	var kept []string
	positive, except := false, false
	for pattern := range strings.SplitSeq(l.hosts, ",") {
		if strings.ContainsAny(pattern, "*?") && !strings.HasPrefix(pattern, "!") && hostMatch(pattern, name) {
			except = true
		} else if hostMatch(pattern, name) {
			continue
		}
		positive = positive || !strings.HasPrefix(pattern, "!")
		kept = append(kept, pattern)
	}
	if !positive {
		return ""
	}
	if except {
		kept = append(kept, "!"+name)
	}
	return strings.Join(kept, ",")
}

// hostMatch compares without regard to case and to how an address is written;
// "[host]:22" is "host". A pattern may be a hashed name.
func hostMatch(pattern, name string) bool {
	if strings.HasPrefix(pattern, "|") {
		return hashedMatch(pattern, canonicalHost(name))
	}
	if !strings.ContainsAny(pattern, "*?") {
		return canonicalHost(pattern) == canonicalHost(name)
	}
	// path.Match would read brackets as a class and stop stars at slashes; a
	// host has none of the latter.
	quoted := strings.NewReplacer("[", `\[`, "]", `\]`, `\`, `\\`).Replace(strings.ToLower(pattern))
	ok, err := path.Match(quoted, canonicalHost(name))
	return err == nil && ok
}

func canonicalHost(name string) string {
	host, port := strings.ToLower(name), ""
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		h, p, ok := strings.Cut(inner, "]:")
		if !ok {
			return host
		}
		host, port = h, p
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.String()
	}
	if port == "" || port == "22" {
		return host
	}
	return "[" + host + "]:" + port
}

func hashedMatch(hashed, name string) bool {
	parts := strings.Split(hashed, "|") // "", "1", salt, hash
	if len(parts) != 4 || parts[1] != "1" {
		return false
	}
	salt, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil {
		return false
	}
	want, err := base64.StdEncoding.DecodeString(parts[3])
	if err != nil {
		return false
	}
	mac := hmac.New(sha1.New, salt)
	_, _ = mac.Write([]byte(name)) // a hash never fails
	return hmac.Equal(mac.Sum(nil), want)
}

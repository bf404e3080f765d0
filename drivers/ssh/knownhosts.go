package ssh

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
)

const maxKnownHosts = 256 << 10

// Markers of a known_hosts line.
const (
	markCA      = "@cert-authority"
	markRevoked = "@revoked"
)

// knownHost is one line of a known_hosts text.
type knownHost struct {
	marker string // "", markCA or markRevoked
	names  []string
	key    gossh.PublicKey
}

// cleanKnownHosts is a known_hosts text as it is stored: LF, no blanks at the
// ends of lines, one line end at the end. "" when nothing is in it.
func cleanKnownHosts(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(text, "\ufeff"))
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	text = strings.Trim(strings.Join(lines, "\n"), "\n")
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text + "\n"
}

// parseKnownHosts reads a known_hosts text. Comments and blank lines are no
// keys. Each line that is wrong gives a message that names its number; the
// others are returned.
func parseKnownHosts(text string) (lines []knownHost, problems []string) {
	number := 0
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		number++
		line = strings.TrimSpace(strings.TrimSuffix(line, "\r"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		known, problem := parseKnownHost(line)
		if problem != "" {
			problems = append(problems, fmt.Sprintf("Line %d: %s", number, problem))
			continue
		}
		lines = append(lines, known)
	}
	return lines, problems
}

func parseKnownHost(line string) (knownHost, string) {
	words := strings.Fields(line)
	var known knownHost
	if strings.HasPrefix(words[0], "@") {
		if words[0] != markCA && words[0] != markRevoked {
			return known, fmt.Sprintf("%q is not a marker; there are @cert-authority and @revoked.", shorten(words[0]))
		}
		known.marker, words = words[0], words[1:]
	}
	if len(words) > 0 && isKeyType(words[0]) {
		return known, "the host's name is missing in front of the key's type."
	}
	if len(words) < 3 {
		return known, "a line is a host name, a key type and a key, parted by blanks."
	}
	for name := range strings.SplitSeq(words[0], ",") {
		if problem := nameProblem(name); problem != "" {
			return known, problem
		}
		known.names = append(known.names, name)
	}
	blob, err := base64.StdEncoding.DecodeString(words[2])
	if err != nil {
		return known, "the key is damaged: it is not base64."
	}
	key, err := gossh.ParsePublicKey(blob)
	switch {
	case !isKeyType(words[1]):
		return known, fmt.Sprintf("%q is not the type of a host key.", shorten(words[1]))
	case err != nil:
		return known, fmt.Sprintf("the %s key cannot be read.", words[1])
	case key.Type() != words[1]:
		return known, fmt.Sprintf("the line says %s, but the key is %s.", words[1], key.Type())
	}
	known.key = key
	return known, ""
}

func isKeyType(word string) bool {
	for _, prefix := range []string{"ssh-rsa", "ssh-ed25519", "ssh-dss", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-", "ssh-mldsa"} {
		if strings.HasPrefix(word, prefix) {
			return true
		}
	}
	return false
}

// nameProblem checks one of a line's host names.
func nameProblem(name string) string {
	name = strings.TrimPrefix(name, "!")
	switch {
	case name == "":
		return "a host name is empty."
	case strings.HasPrefix(name, "|"):
		if _, _, ok := splitHashed(name); !ok {
			return "the hashed host name is damaged."
		}
		return ""
	case strings.HasPrefix(name, "["):
		host, port, found := strings.Cut(name[1:], "]:")
		if !found {
			bare := strings.Trim(name, "[]")
			return fmt.Sprintf("the name %s in brackets needs a port: %s for port 22, [%s]:2222 for another.", shorten(name), shorten(bare), shorten(bare))
		}
		if _, err := strconv.ParseUint(port, 10, 16); host == "" || (err != nil && !strings.ContainsAny(port, "*?")) {
			return fmt.Sprintf("%s has no port from 1 to 65535.", shorten(name))
		}
	case strings.Count(name, ":") == 1 && !strings.ContainsAny(name, "*?"):
		host, port, _ := strings.Cut(name, ":")
		return fmt.Sprintf("a name with a port is written in brackets: [%s]:%s.", shorten(host), shorten(port))
	case strings.Contains(name, "]"):
		return fmt.Sprintf("%s is not a host name.", shorten(name))
	}
	return ""
}

// splitHashed reads "|1|salt|hash".
func splitHashed(name string) (salt, hash []byte, ok bool) {
	parts := strings.Split(name, "|")
	if len(parts) != 4 || parts[0] != "" || parts[1] != "1" {
		return nil, nil, false
	}
	salt, errSalt := base64.StdEncoding.DecodeString(parts[2])
	hash, errHash := base64.StdEncoding.DecodeString(parts[3])
	return salt, hash, errSalt == nil && errHash == nil && len(hash) == 20
}

// knownHostsLine pins a key for a host.
func knownHostsLine(name string, key gossh.PublicKey) string {
	return name + " " + strings.TrimSpace(string(gossh.MarshalAuthorizedKey(key)))
}

// hostKeyOf shows a key of a host.
func hostKeyOf(name string, key gossh.PublicKey) environment.HostKey {
	return environment.HostKey{Type: key.Type(), Fingerprint: gossh.FingerprintSHA256(key), KnownHostsLine: knownHostsLine(name, key)}
}

// canonicalName is a host's name in the form in which names are compared: lower
// case, addresses in their shortest form, brackets only with a port other than 22.
func canonicalName(name string) string {
	name = strings.ToLower(name)
	host, port := name, ""
	if strings.HasPrefix(name, "[") {
		var found bool
		if host, port, found = strings.Cut(name[1:], "]:"); !found {
			return name
		}
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.String()
	}
	if port == "" || port == "22" {
		return host
	}
	return "[" + host + "]:" + port
}

func shorten(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}

package ssh

import (
	"fmt"
	"regexp"
	"strings"
)

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

package ssh

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"berth/environment"
)

// fields reads a config key by key and gathers what is wrong with it.
type fields struct {
	raw      map[string]json.RawMessage
	errors   []environment.FieldError
	warnings []environment.FieldError
}

// refuse notes the first problem of a key; "" is none.
func (f *fields) refuse(key, problem string) {
	field := "config." + key
	noted := slices.ContainsFunc(f.errors, func(e environment.FieldError) bool { return e.Field == field })
	if problem != "" && !noted {
		f.errors = append(f.errors, environment.FieldError{Field: field, Message: problem})
	}
}

func (f *fields) warn(key, text string) {
	f.warnings = append(f.warnings, environment.FieldError{Field: "config." + key, Message: text})
}

func configKeys() []string {
	return []string{
		"host", "port", "username", "remoteWorkspacePath", "privateKey", "privateKeySecretRef", "knownHosts",
		"strictHostKeyChecking", "passphrase", "passphraseSecretRef", "password", "passwordSecretRef", "certificate",
		"useAgent", "proxyJump", "requiredTools", "keepAliveSec", "minFreeMB", "keyType", "keyFingerprint",
	}
}

func (f *fields) refuseUnknown() {
	known := configKeys()
	for _, key := range slices.Sorted(maps.Keys(f.raw)) {
		if !slices.Contains(known, key) {
			f.refuse(key, fmt.Sprintf("An SSH environment has no setting %q.", key))
		}
	}
}

// absent reports whether a key is missing or null: both mean the default.
func (f *fields) absent(key string) bool {
	raw := bytes.TrimSpace(f.raw[key])
	return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
}

// text reads a string; "" when it is absent or refused.
func (f *fields) text(key string) string {
	if f.absent(key) {
		return ""
	}
	var text string
	if json.Unmarshal(f.raw[key], &text) != nil {
		f.refuse(key, "This must be text.")
		return ""
	}
	if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
		f.refuse(key, "This holds characters that cannot be shown.")
		return ""
	}
	return text
}

// scalar reads a number, or text that may hold one, as text without blanks. What
// is neither is given as it is: whoever reads a number out of it says what one is.
func (f *fields) scalar(key string) string {
	if f.absent(key) {
		return ""
	}
	if raw := bytes.TrimSpace(f.raw[key]); raw[0] != '"' {
		return string(raw)
	}
	return strings.TrimSpace(f.text(key))
}

func (f *fields) number(key string, fallback, least, most int) int {
	text := f.scalar(key)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		f.refuse(key, fmt.Sprintf("This is a whole number from %d to %d.", least, most))
	}
	return n
}

// boolean also takes the words that a form sends.
func (f *fields) boolean(key string, fallback bool) bool {
	if f.absent(key) {
		return fallback
	}
	switch string(bytes.Trim(bytes.TrimSpace(f.raw[key]), `"`)) {
	case "true", "on":
		return true
	case "false", "off":
		return false
	case "":
		return fallback
	}
	f.refuse(key, "This is true or false.")
	return fallback
}

func (f *fields) list(key string) []string {
	if f.absent(key) {
		return nil
	}
	var list []string
	if json.Unmarshal(f.raw[key], &list) != nil {
		f.refuse(key, "This is a list of texts.")
	}
	return list
}

// reference reads a stored secret's reference; nil when there is none.
func (f *fields) reference(key string) *environment.SecretRef {
	if f.absent(key) {
		return nil
	}
	var ref environment.SecretRef
	if json.Unmarshal(f.raw[key], &ref) != nil || ref.Type != "secret_ref" {
		f.refuse(key, `A reference to a secret is {"type": "secret_ref", "secretId", "version"}.`)
		return nil
	}
	return &ref
}

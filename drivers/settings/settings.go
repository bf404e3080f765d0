// Package settings reads a driver's config as it was sent, key by key, and gathers
// what is wrong with it.
package settings

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

// Reader reads one config. Its zero value reads an empty one.
type Reader struct {
	Errors   []environment.FieldError // one of each key
	Warnings []environment.FieldError

	raw  map[string]json.RawMessage
	read map[string]bool
}

// Of returns a reader of a config.
func Of(config map[string]json.RawMessage) *Reader {
	return &Reader{raw: config, read: make(map[string]bool, len(config))}
}

// Refuse notes the first problem of a key; "" is none.
func (r *Reader) Refuse(key, problem string) {
	field := "config." + key
	noted := slices.ContainsFunc(r.Errors, func(e environment.FieldError) bool { return e.Field == field })
	if problem != "" && !noted {
		r.Errors = append(r.Errors, environment.FieldError{Field: field, Message: problem})
	}
}

// Warn notes something about a key that is stored all the same.
func (r *Reader) Warn(key, text string) {
	r.Warnings = append(r.Warnings, environment.FieldError{Field: "config." + key, Message: text})
}

// RefuseUnknown refuses every key that was not read and is none of others. whose is
// what has no such setting: "A Docker sandbox".
func (r *Reader) RefuseUnknown(whose string, others ...string) {
	for _, key := range slices.Sorted(maps.Keys(r.raw)) {
		if !r.read[key] && !slices.Contains(others, key) {
			r.Refuse(key, fmt.Sprintf("%s has no setting %q.", whose, key))
		}
	}
}

// Absent reports whether a key is missing or null: both mean the default.
func (r *Reader) Absent(key string) bool {
	if r.read != nil {
		r.read[key] = true
	}
	raw := bytes.TrimSpace(r.raw[key])
	return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
}

// Text reads a string as it is; "" when it is absent or refused. A limit of 0 is
// none.
func (r *Reader) Text(key string, limit int) string {
	if r.Absent(key) {
		return ""
	}
	var text string
	switch {
	case json.Unmarshal(r.raw[key], &text) != nil:
		r.Refuse(key, "This must be text.")
	case limit > 0 && len(text) > limit:
		r.Refuse(key, fmt.Sprintf("This has at most %d characters.", limit))
	case strings.ContainsRune(text, 0) || !utf8.ValidString(text):
		r.Refuse(key, "This holds characters that cannot be shown.")
	default:
		return text
	}
	return ""
}

// Scalar reads a number, or text that may hold one, as text without blanks; "" when
// it is absent. What is neither is given as it is: whoever reads a number out of it
// says what one is.
func (r *Reader) Scalar(key string) string {
	if r.Absent(key) {
		return ""
	}
	if raw := bytes.TrimSpace(r.raw[key]); raw[0] != '"' {
		return string(raw)
	}
	return strings.TrimSpace(r.Text(key, 255))
}

// Number reads a whole number; fallback when it is absent.
func (r *Reader) Number(key string, fallback, least, most int) int {
	text := r.Scalar(key)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		r.Refuse(key, fmt.Sprintf("This is a whole number from %d to %d.", least, most))
	}
	return n
}

// Boolean also takes the words that a form sends; fallback when it is absent, or
// empty text.
func (r *Reader) Boolean(key string, fallback bool) bool {
	if r.Absent(key) {
		return fallback
	}
	switch string(bytes.Trim(bytes.TrimSpace(r.raw[key]), `"`)) {
	case "true", "on":
		return true
	case "false", "off":
		return false
	case "":
		return fallback
	}
	r.Refuse(key, "This is true or false.")
	return fallback
}

// List reads texts. A limit of 0 is none.
func (r *Reader) List(key string, most int) []string {
	if r.Absent(key) {
		return nil
	}
	var list []string
	if json.Unmarshal(r.raw[key], &list) != nil {
		r.Refuse(key, "This is a list of texts.")
		return nil
	}
	if most > 0 && len(list) > most {
		r.Refuse(key, fmt.Sprintf("There can be at most %d.", most))
	}
	return list
}

// Texts reads names with a text each. Each is judged by problem, at its own name.
func (r *Reader) Texts(key string, most int, problem func(name, value string) string) map[string]string {
	if r.Absent(key) {
		return nil
	}
	var texts map[string]string
	if json.Unmarshal(r.raw[key], &texts) != nil {
		r.Refuse(key, "These are names with a text each.")
		return nil
	}
	if len(texts) > most {
		r.Refuse(key, fmt.Sprintf("There can be at most %d.", most))
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		r.Refuse(key+"."+name, problem(name, texts[name]))
	}
	return texts
}

// Reference reads a stored secret's reference; nil when there is none.
func (r *Reader) Reference(key string) *environment.SecretRef {
	if r.Absent(key) {
		return nil
	}
	var ref environment.SecretRef
	if json.Unmarshal(r.raw[key], &ref) != nil || ref.Type != "secret_ref" {
		r.Refuse(key, `A reference to a secret is {"type": "secret_ref", "secretId", "version"}.`)
		return nil
	}
	return &ref
}

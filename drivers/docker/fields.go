package docker

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

// fields reads a config as sent, key by key, and gathers what is wrong with it.
type fields struct {
	raw      map[string]json.RawMessage
	read     map[string]bool
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

// refuseUnknown refuses every key that was not read.
func (f *fields) refuseUnknown() {
	for _, key := range slices.Sorted(maps.Keys(f.raw)) {
		if !f.read[key] {
			f.refuse(key, fmt.Sprintf("A Docker sandbox has no setting %q.", key))
		}
	}
}

// absent reports whether a key is missing or null: both mean the default.
func (f *fields) absent(key string) bool {
	f.read[key] = true
	raw := bytes.TrimSpace(f.raw[key])
	return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
}

// text reads a string without the blanks around it; "" when it is absent or
// refused.
func (f *fields) text(key string, limit int) string { return strings.TrimSpace(f.whole(key, limit)) }

// whole reads a string as it is.
func (f *fields) whole(key string, limit int) string {
	if f.absent(key) {
		return ""
	}
	var text string
	switch {
	case json.Unmarshal(f.raw[key], &text) != nil:
		f.refuse(key, "This must be text.")
	case len(text) > limit:
		f.refuse(key, fmt.Sprintf("This has at most %d characters.", limit))
	case strings.ContainsRune(text, 0) || !utf8.ValidString(text):
		f.refuse(key, "This holds characters that cannot be shown.")
	default:
		return text
	}
	return ""
}

// choice reads one of several words.
func (f *fields) choice(key string, words ...string) string {
	text := f.text(key, 255)
	if text != "" && !slices.Contains(words, text) {
		f.refuse(key, "Choose one of "+strings.Join(words, ", ")+".")
	}
	return text
}

// scalar reads a number, or text that may hold one; "" is unset.
func (f *fields) scalar(key string) string {
	if f.absent(key) {
		return ""
	}
	if raw := bytes.TrimSpace(f.raw[key]); raw[0] != '"' {
		return string(raw)
	}
	return f.text(key, 255)
}

// number reads a whole number; 0 is unset.
func (f *fields) number(key string, least, most int64) int64 {
	text := f.scalar(key)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		f.refuse(key, fmt.Sprintf("This is a whole number from %d to %d.", least, most))
	}
	return n
}

// decimal reads a number; 0 is unset.
func (f *fields) decimal(key string, least, most float64) float64 {
	text := f.scalar(key)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= least && n <= most) {
		f.refuse(key, fmt.Sprintf("This is a number from %g to %g.", least, most))
		return 0
	}
	return n
}

// boolean also takes the words that a form sends.
func (f *fields) boolean(key string) bool {
	if f.absent(key) {
		return false
	}
	switch string(bytes.Trim(bytes.TrimSpace(f.raw[key]), `"`)) {
	case "true", "on":
		return true
	case "false", "off", "":
		return false
	}
	f.refuse(key, "This is true or false.")
	return false
}

func (f *fields) list(key string, most int) []string {
	if f.absent(key) {
		return nil
	}
	var list []string
	if json.Unmarshal(f.raw[key], &list) != nil {
		f.refuse(key, "This is a list of texts.")
		return nil
	}
	if len(list) > most {
		f.refuse(key, fmt.Sprintf("There can be at most %d.", most))
	}
	return list
}

// texts reads a map of strings. Each name and value is judged by problem.
func (f *fields) texts(key string, most int, problem func(name, value string) string) map[string]string {
	if f.absent(key) {
		return nil
	}
	var texts map[string]string
	if json.Unmarshal(f.raw[key], &texts) != nil {
		f.refuse(key, "These are names with a text each.")
		return nil
	}
	if len(texts) > most {
		f.refuse(key, fmt.Sprintf("There can be at most %d.", most))
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		f.refuse(key+"."+name, problem(name, texts[name]))
	}
	return texts
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

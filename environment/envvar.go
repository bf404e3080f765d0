package environment

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// EnvVar is one variable of an environment's stored map. Exactly one of Value
// (Type "plain") and Ref (Type "secret_ref") counts.
type EnvVar struct {
	Type  string     // "plain" or "secret_ref"
	Value string     // plain only
	Ref   *SecretRef // secret_ref only
}

// EnvValue is a variable as it goes into the target, secrets opened.
type EnvValue struct {
	Name   string
	Value  Secret
	Masked bool // its value is masked in output
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Limits on variables.
const (
	MaxEnvVars     = 200
	MaxEnvValue    = 64 << 10
	ReservedPrefix = "BERTH_"
)

// EnvNameProblem says what is wrong with a variable's name; "" when nothing is.
func EnvNameProblem(name string) string {
	switch {
	case name == "":
		return "Enter a name."
	case len(name) > 256:
		return "A variable's name has at most 256 characters."
	case !envName.MatchString(name):
		return "A variable's name has letters, digits and _ only and does not begin with a digit."
	case strings.HasPrefix(name, ReservedPrefix):
		return "Names that begin with BERTH_ are set by Berth itself."
	}
	return ""
}

// EnvValueProblem says what is wrong with a variable's value; "" when nothing is.
func EnvValueProblem(value string) string {
	switch {
	case len(value) > MaxEnvValue:
		return "A value has at most 64 KiB."
	case strings.ContainsRune(value, 0):
		return "A value cannot hold a NUL byte."
	case !utf8.ValidString(value):
		return "A value must be UTF-8 text."
	}
	return ""
}

var sensitive = regexp.MustCompile(`(?i)(^|_)(key|token|secret|password|passwd|passphrase|credential|credentials|pat|auth|cookie|dsn|apikey)(_|$)`)

// LooksSecret reports whether a variable of this name or value is stored as a
// secret even when it was sent as plain: one read path that forgets would
// otherwise show it to everyone.
func LooksSecret(name, value string) bool {
	return sensitive.MatchString(name) || urlPassword.MatchString(value) || strings.Contains(value, "PRIVATE KEY-----")
}

var urlPassword = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.-]*://[^/@\s:]*:[^/@\s]+@`)

package environment

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// MaxName is the longest name of anything, in characters.
const MaxName = 120

// Company is a tenant: it owns runs, leases and secrets. Environments are not
// company-scoped.
type Company struct {
	ID        uuid.UUID `db:"id"`
	Name      string    `db:"name"`
	CreatedAt time.Time `db:"created_at"`
	UpdatedAt time.Time `db:"updated_at"`
}

// CleanName trims a name and folds inner runs of white space to one blank, so
// that names which look the same are the same. It returns a message for a
// person when the name is empty, too long or holds a control character, and ""
// when it is fine.
func CleanName(name string) (clean, problem string) {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r == 0 || r == 0x7f || (r < 0x20 && r != '\t' && r != '\n' && r != '\r') }) {
		return "", "The name holds characters that cannot be shown."
	}
	clean = strings.Join(strings.Fields(name), " ")
	switch n := utf8.RuneCountInString(clean); {
	case n == 0:
		return "", "Enter a name."
	case n > MaxName:
		return "", "A name has at most 120 characters."
	}
	return clean, ""
}

// NameKey is the form of a clean name under which it is unique: names that
// differ only in case are the same name.
func NameKey(clean string) string { return strings.ToLower(clean) }

package environment

import (
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Person is somebody who signs in.
type Person struct {
	ID            uuid.UUID          `db:"id"`
	Email         string             `db:"email"` // as typed; unique without regard to case
	Name          string             `db:"name"`
	InstanceAdmin bool               `db:"instance_admin"`
	DisabledAt    *time.Time         `db:"disabled_at"` // nil: may sign in
	LastSeenAt    *time.Time         `db:"last_seen_at"`
	CreatedAt     time.Time          `db:"created_at"`
	UpdatedAt     time.Time          `db:"updated_at"`
	Roles         map[uuid.UUID]Role `db:"-"`
}

// Limits on passwords, in characters. Length is the only rule: what else is
// asked for makes people choose worse ones (NIST SP 800-63B).
const (
	MinPassword = 12
	MaxPassword = 1024
)

// PasswordProblem says what is wrong with a new password; "" when nothing is.
func PasswordProblem(password Secret) string {
	text := password.Reveal()
	switch n := utf8.RuneCountInString(text); {
	case !utf8.ValidString(text):
		return "A password must be UTF-8 text."
	case n < MinPassword:
		return "A password has at least 12 characters."
	case n > MaxPassword:
		return "A password has at most 1,024 characters."
	}
	return ""
}

// CleanEmail trims an address and says what is wrong with it; "" when nothing is.
func CleanEmail(text string) (clean, problem string) {
	clean = strings.TrimSpace(text)
	address, err := mail.ParseAddress(clean)
	switch {
	case clean == "":
		return "", "Enter an e-mail address."
	case err != nil || address.Address != clean || len(clean) > 254 || strings.ContainsAny(clean, "\x00\r\n"):
		return "", "That is not an e-mail address such as ada@example.com."
	}
	return clean, ""
}

// Session is one browser in which a person is signed in.
type Session struct {
	ID         uuid.UUID `db:"id"`
	PersonID   uuid.UUID `db:"person_id"`
	CreatedAt  time.Time `db:"created_at"`
	LastSeenAt time.Time `db:"last_seen_at"`
	Address    string    `db:"address"`    // of the client, without its port
	UserAgent  string    `db:"user_agent"` // at most 200 characters
}

// Key is a bearer credential: a person's API token or an agent's key. The text
// itself is shown once and never stored.
type Key struct {
	ID         uuid.UUID  `db:"id"`
	PersonID   *uuid.UUID `db:"person_id"` // exactly one of PersonID and AgentID
	AgentID    *uuid.UUID `db:"agent_id"`
	Name       string     `db:"name"`
	Hint       string     `db:"hint"` // its last four characters
	CreatedAt  time.Time  `db:"created_at"`
	CreatedBy  string     `db:"created_by"`
	LastUsedAt *time.Time `db:"last_used_at"`
	ExpiresAt  *time.Time `db:"expires_at"`
	RevokedAt  *time.Time `db:"revoked_at"`
}

// Usable reports whether a key counts at a time.
func (k Key) Usable(now time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// LinkKind is what a one-time link is for.
type LinkKind string

// The kinds of links.
const (
	LinkFirstAdmin LinkKind = "first_admin"
	LinkInvitation LinkKind = "invitation"
	LinkPassword   LinkKind = "password_reset"
)

// Link is a one-time link. Only a hash of its token is stored.
type Link struct {
	ID            uuid.UUID          `db:"id"`
	Kind          LinkKind           `db:"kind"`
	Email         string             `db:"email"` // "" for the first admin
	PersonID      *uuid.UUID         `db:"person_id"`
	InstanceAdmin bool               `db:"instance_admin"`
	Roles         map[uuid.UUID]Role `db:"-"`
	CreatedBy     string             `db:"created_by"`
	CreatedAt     time.Time          `db:"created_at"`
	ExpiresAt     time.Time          `db:"expires_at"`
	UsedAt        *time.Time         `db:"used_at"`
	RevokedAt     *time.Time         `db:"revoked_at"`
}

// Open reports whether a link can be used at a time.
func (l Link) Open(now time.Time) bool {
	return l.UsedAt == nil && l.RevokedAt == nil && now.Before(l.ExpiresAt)
}

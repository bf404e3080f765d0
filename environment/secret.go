package environment

import (
	"crypto/subtle"
	"log/slog"

	"github.com/google/uuid"
)

// MaxSecret is the largest secret that is stored, in bytes.
const MaxSecret = 64 << 10

// Secret is a value that cannot print itself: every way that fmt, encoding/json
// or slog have of showing it gives "[secret]". Reveal is the one way out, and
// only drivers and the vault call it.
type Secret struct {
	// value is behind a pointer because fmt prints the unexported fields of
	// others without asking the methods below; it shows a pointer's address.
	value *string
	_     [0]func() // two pointers to one value differ: compare with Equal
}

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{value: &value} }

// Reveal returns the value.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// Empty reports whether there is no value.
func (s Secret) Empty() bool { return s.Reveal() == "" }

// Equal reports whether two secrets hold the same value.
func (s Secret) Equal(other Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

const shroud = "[secret]"

func (s Secret) String() string               { return shroud }
func (s Secret) GoString() string             { return shroud }
func (s Secret) MarshalText() ([]byte, error) { return []byte(shroud), nil }
func (s Secret) LogValue() slog.Value         { return slog.StringValue(shroud) }

// SecretRef points at a stored secret, in the form in which config keeps it.
// Version is "latest" or a positive number in decimal.
type SecretRef struct {
	Type     string    `json:"type"` // always "secret_ref"
	SecretID uuid.UUID `json:"secretId"`
	Version  string    `json:"version"`
}

// RefTo returns a reference to the latest version of a secret.
func RefTo(id uuid.UUID) SecretRef {
	return SecretRef{Type: "secret_ref", SecretID: id, Version: "latest"}
}

// StoredSecret is a secret's row without its value.
type StoredSecret struct {
	ID            uuid.UUID  `db:"id"`
	CompanyID     *uuid.UUID `db:"company_id"`     // nil: serves every company
	EnvironmentID *uuid.UUID `db:"environment_id"` // the owner; nil: shared
	Name          string     `db:"name"`
	Disabled      bool       `db:"disabled"`
}

// SealedSecret is a secret on its way into the store: encrypted already.
type SealedSecret struct {
	StoredSecret
	Ciphertext []byte
}

// Vault encrypts and decrypts secret values. What was sealed under one id does
// not open under another. Implementations: store/vault.
type Vault interface {
	// Seal encrypts value for the row with this id.
	Seal(id uuid.UUID, value Secret) ([]byte, error)
	// Open decrypts; KindInternal with code "keyset_mismatch" when the keyset
	// is not the one that sealed it.
	Open(id uuid.UUID, ciphertext []byte) (Secret, error)
}

package environment

import (
	"crypto/subtle"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"
)

// MaxSecret is the largest secret that is stored, in bytes.
const MaxSecret = 64 << 10

// MaxCompanySecrets is how many secrets a company has at most.
const MaxCompanySecrets = 1000

// SecretProblem says what is wrong with a new value of a company's secret; ""
// when nothing is.
func SecretProblem(value Secret) string {
	switch n := len(value.Reveal()); {
	case n == 0:
		return "Enter a value."
	case n > MaxSecret:
		return "A secret has at most 64 KiB."
	case strings.ContainsRune(value.Reveal(), 0):
		return "A secret cannot hold a NUL byte." // neither a variable nor a file of a target's could
	}
	return ""
}

// KeyTurns is how often a write is tried while the master key is turned over
// again and again: each try is sealed with the key of then.
const KeyTurns = 5

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

// StoredSecret is a secret's row without its values. It is either owned by an
// environment, and then serves every company, or shared: a company's own.
type StoredSecret struct {
	ID            uuid.UUID  `db:"id"`
	CompanyID     *uuid.UUID `db:"company_id"`     // of a shared one; nil: owned
	EnvironmentID *uuid.UUID `db:"environment_id"` // the owner; nil: shared
	Name          string     `db:"name"`           // of a shared one: unique in its company without regard to case
	Description   *string    `db:"description"`
	Disabled      bool       `db:"disabled"`
	LatestVersion int        `db:"latest_version"`
	CreatedBy     string     `db:"created_by"`
	CreatedAt     time.Time  `db:"created_at"`
	UpdatedAt     time.Time  `db:"updated_at"`
	// RetiredAt is when nothing referred to an owned one any more; it then opens
	// for cleanup only, and goes with the last unclean lease of its owner.
	RetiredAt *time.Time `db:"retired_at"`
}

// SecretVersion is one value of a secret. Its first version's id is the secret's.
type SecretVersion struct {
	ID         uuid.UUID `db:"id"` // what the ciphertext is bound to
	SecretID   uuid.UUID `db:"secret_id"`
	Version    int       `db:"version"`
	Ciphertext []byte    `db:"ciphertext"`
	CreatedAt  time.Time `db:"created_at"`
	CreatedBy  string    `db:"created_by"`
}

// SealedSecret is a secret on its way into the store with its first version,
// encrypted already under the secret's own id.
type SealedSecret struct {
	StoredSecret
	Ciphertext []byte
}

// SecretBinding is one reference of an environment to a company's secret.
type SecretBinding struct {
	EnvironmentID   uuid.UUID `db:"environment_id"`
	EnvironmentName string    `db:"environment_name"` // read only
	ConfigPath      string    `db:"config_path"`      // "config.privateKey", "envVars.NAME"
	SecretID        uuid.UUID `db:"secret_id"`
	CompanyID       uuid.UUID `db:"company_id"`
	Version         string    `db:"version"` // "latest" or a number
}

// SecretPurpose is what a secret is opened for.
type SecretPurpose string

// The purposes.
const (
	ForRun     SecretPurpose = "run"
	ForProbe   SecretPurpose = "probe"
	ForDraft   SecretPurpose = "draft"
	ForCleanup SecretPurpose = "cleanup"
)

// SecretUse says for what an environment's secrets are opened; it is recorded
// with each.
type SecretUse struct {
	Purpose   SecretPurpose
	CompanyID *uuid.UUID // whose work it is; nil: nobody's in particular
	RunID     *uuid.UUID
	ProbeID   *uuid.UUID
	ActorName string
}

// SecretAccess is one opening of a secret, or a try.
type SecretAccess struct {
	ID            uuid.UUID     `db:"id"`
	SecretID      uuid.UUID     `db:"secret_id"`
	Version       int           `db:"version"` // 0: not opened
	EnvironmentID *uuid.UUID    `db:"environment_id"`
	CompanyID     *uuid.UUID    `db:"company_id"`
	ConfigPath    string        `db:"config_path"`
	Purpose       SecretPurpose `db:"purpose"`
	RunID         *uuid.UUID    `db:"run_id"`
	ProbeID       *uuid.UUID    `db:"probe_id"`
	ActorName     string        `db:"actor_name"`
	Outcome       string        `db:"outcome"` // "opened" or a code
	At            time.Time     `db:"at"`
}

// NewCompanySecret asks a save of an environment to make a company's secret and refer
// to it, all in one transaction.
type NewCompanySecret struct {
	CompanyID uuid.UUID
	Name      string
	Value     Secret
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

// SecretNameTaken is the refusal of a second secret of a name in a company.
func SecretNameTaken(name string) *Error {
	e := Conflict(CodeNameTaken, "The company has a secret of this name already.").With("secret", name)
	e.Fields = []FieldError{{Field: "name", Message: e.Message}}
	return e
}

// TooManySecrets is the refusal of one more secret of a company.
func TooManySecrets() *Error {
	return Conflict(CodeTooManySecrets, "A company has at most 1,000 secrets.").Remedy("Delete secrets that nothing refers to any more.")
}

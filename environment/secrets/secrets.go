// Package secrets keeps companies' own secrets, with versions, and turns the
// master key over. What an environment owns is the catalogue's.
package secrets

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// Store is what it needs of the database. Each method is one transaction; each
// write also writes its activity.
type Store interface {
	// Secrets are the shared ones of a company whose name has query in it, by name,
	// retired ones not among them. SharedSecret is KindNotFound with code secret_not_found; owned ones
	// are not found here.
	Secrets(ctx context.Context, company uuid.UUID, query string, limit int, cursor string) (environment.Page[environment.StoredSecret], error)
	SharedSecret(ctx context.Context, id uuid.UUID) (environment.StoredSecret, error)
	// SecretVersions are newest first, without ciphertext.
	SecretVersions(ctx context.Context, id uuid.UUID) ([]environment.SecretVersion, error)
	// CreateSecret is KindConflict with code name_taken.
	CreateSecret(context.Context, environment.SealedSecret, environment.Activity) error
	// AddSecretVersion makes v the latest when the latest is v.Version - 1; else
	// KindConflict with code secret_changed. It bumps ConfigRevision of no
	// environment, and marks for a new test those that use the latest.
	AddSecretVersion(ctx context.Context, v environment.SecretVersion, a environment.Activity) (environment.StoredSecret, error)
	UpdateSecret(ctx context.Context, id uuid.UUID, p Patch, a environment.Activity) (environment.StoredSecret, error)
	// DeleteSecret is KindConflict with code secret_in_use while anything refers
	// to it.
	DeleteSecret(ctx context.Context, id uuid.UUID, a environment.Activity) error
	SecretBindings(ctx context.Context, id uuid.UUID) ([]environment.SecretBinding, error)
	SecretAccesses(ctx context.Context, id uuid.UUID, limit int, cursor string) (environment.Page[environment.SecretAccess], error)

	// SweepSecrets deletes the retired secrets that no lease or run needs any more.
	SweepSecrets(context.Context) (int, error)
	// PruneAccesses deletes up to limit openings beyond the newest
	// environment.AccessesKept of a secret, or older than AccessesKeptFor. It
	// returns how many.
	PruneAccesses(ctx context.Context, limit int) (int, error)

	// KeysetFingerprint names the key that the database is bound to; "" for none.
	KeysetFingerprint(context.Context) (string, error)
	// WakeKeyset wakes environment.KeysetSubject.
	WakeKeyset(context.Context) error
	// Reseal offers up to limit sealed values (secret versions, inputs of runs)
	// after a place to again, and writes what that returns unless it is nil. It
	// returns the next place, "" at the end, and how many were written. Each row is
	// locked meanwhile.
	Reseal(ctx context.Context, after string, limit int, again func(id uuid.UUID, ciphertext []byte) ([]byte, error)) (next string, n int, err error)
	// MoveKeyset binds the database to the key to; the earlier one must be from,
	// else KindConflict with code keyset_mismatch. When it returns, every write of a
	// value that begins with one of refused fails with code keyset_changed, and those
	// that came before can be seen. It wakes environment.KeysetSubject.
	MoveKeyset(ctx context.Context, from, to string, refused [][]byte, a environment.Activity) error
}

// Keyset is the master key; store/vault.
type Keyset interface {
	environment.Vault
	// Fingerprint names the primary key, Fingerprints all, the primary first.
	Fingerprint() string
	Fingerprints() []string
	// Marks are what everything begins with that each key seals, the primary's first.
	Marks() [][]byte
	// Rotate adds a new primary key and writes the keyset's file; what was sealed
	// before still opens. Prune drops every key but the primary.
	Rotate() error
	Prune() error
	// Reload reads the file again.
	Reload() error
}

// Patch changes what is not nil.
type Patch struct {
	Name           *string
	Description    *string
	SetDescription bool
	Disabled       *bool
}

// Apply lays the patch over a row.
func (p Patch) Apply(s *environment.StoredSecret) {
	if p.Name != nil {
		s.Name = *p.Name
	}
	if p.SetDescription {
		s.Description = p.Description
	}
	if p.Disabled != nil {
		s.Disabled = *p.Disabled
	}
}

// New is a secret to be made.
type New struct {
	Name        string
	Description *string
	Value       environment.Secret
}

// Uses says what a secret is used by.
type Uses struct {
	Bindings []environment.SecretBinding
	Versions []environment.SecretVersion // newest first, without ciphertext
}

// Rotation is the outcome of a rotation of the master key.
type Rotation struct {
	From, To string // fingerprints
	Resealed int
}

// Service keeps secrets.
type Service struct {
	store  Store
	keyset Keyset
	now    func() time.Time
	log    *slog.Logger

	turning sync.Mutex // held while the key is turned over
}

// NewService returns the service. All arguments are needed.
func NewService(store Store, keyset Keyset, now func() time.Time, log *slog.Logger) *Service {
	return &Service{store: store, keyset: keyset, now: now, log: log}
}

// InUse is the refusal to delete a secret that is referred to. A lease that is not
// clean counts, too; it is no use that anybody could take away.
func InUse(s environment.StoredSecret, uses []environment.SecretBinding) *environment.Error {
	list := make([]map[string]any, len(uses))
	for i, u := range uses {
		list[i] = map[string]any{"environmentId": u.EnvironmentID, "environmentName": u.EnvironmentName,
			"configPath": u.ConfigPath, "version": u.Version}
	}
	e := environment.Conflict(environment.CodeSecretInUse, "“"+s.Name+"” is in use.").With("uses", list)
	if len(uses) == 0 {
		return e.Remedy("Work that was begun with it is not cleaned up yet. Try again later.")
	}
	return e.Remedy("Take it out of the environments that refer to it first, or disable it.")
}

// Package secrets keeps companies' own secrets, with versions, and turns the
// master key over. What an environment owns is the catalogue's.
package secrets

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// Store is what it needs of the database. Each method is one transaction; each
// write also writes its activity.
type Store interface {
	// Secrets are the shared ones of a company, by name, retired ones not among
	// them. SharedSecret is KindNotFound with code secret_not_found; owned ones
	// are not found here.
	Secrets(ctx context.Context, company uuid.UUID, limit int, cursor string) (environment.Page[environment.StoredSecret], error)
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

	// Reseal rewrites up to limit sealed values (secret versions, inputs of
	// runs) after a place, each by again, and returns the next place; "" at the
	// end. A value that was changed meanwhile is met again.
	Reseal(ctx context.Context, after string, limit int, again func(id uuid.UUID, ciphertext []byte) ([]byte, error)) (next string, n int, err error)
	// BindKeyset notes the fingerprint of the primary key; the earlier one must
	// be from. It wakes environment.KeysetSubject.
	MoveKeyset(ctx context.Context, from, to string, a environment.Activity) error
}

// Keyset is the master key; store/vault.
type Keyset interface {
	environment.Vault
	// Fingerprint names the primary key.
	Fingerprint() string
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
}

// NewService returns the service. All arguments are needed.
func NewService(store Store, keyset Keyset, now func() time.Time, log *slog.Logger) *Service {
	return &Service{store: store, keyset: keyset, now: now, log: log}
}

var errNotYet = errors.New("not built yet")

// List returns a company's secrets; no value is ever among them.
func (s *Service) List(ctx context.Context, actor environment.Actor, company uuid.UUID, limit int, cursor string) (environment.Page[environment.StoredSecret], error) {
	return environment.Page[environment.StoredSecret]{}, errNotYet
}

// Get returns one; KindNotFound with code secret_not_found.
func (s *Service) Get(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.StoredSecret, Uses, error) {
	return environment.StoredSecret{}, Uses{}, errNotYet
}

// Create makes a secret; KindConflict with code name_taken.
func (s *Service) Create(ctx context.Context, actor environment.Actor, company uuid.UUID, in New) (environment.StoredSecret, error) {
	return environment.StoredSecret{}, errNotYet
}

// Rotate gives a secret a new value: a new version, the latest from now on.
func (s *Service) Rotate(ctx context.Context, actor environment.Actor, id uuid.UUID, value environment.Secret) (environment.StoredSecret, error) {
	return environment.StoredSecret{}, errNotYet
}

// Update renames, describes, disables or enables.
func (s *Service) Update(ctx context.Context, actor environment.Actor, id uuid.UUID, p Patch) (environment.StoredSecret, error) {
	return environment.StoredSecret{}, errNotYet
}

// Delete removes a secret that nothing refers to; KindConflict with code
// secret_in_use and detail "uses".
func (s *Service) Delete(ctx context.Context, actor environment.Actor, id uuid.UUID) error {
	return errNotYet
}

// Accesses says who opened it, newest first.
func (s *Service) Accesses(ctx context.Context, actor environment.Actor, id uuid.UUID, limit int, cursor string) (environment.Page[environment.SecretAccess], error) {
	return environment.Page[environment.SecretAccess]{}, errNotYet
}

// RotateKey gives the keyset a new primary key, seals everything again under it
// and drops the old keys. It may be called again after it was interrupted.
func (s *Service) RotateKey(ctx context.Context, actor environment.Actor) (Rotation, error) {
	return Rotation{}, errNotYet
}

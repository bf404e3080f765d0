// Package catalogue keeps what an operator configures: companies, the
// instance's settings and the environments with their secrets and trusted keys.
package catalogue

import (
	"context"
	"log/slog"
	"time"

	"berth/environment"
	"berth/environment/crew"

	"github.com/google/uuid"
)

// Store is what the catalogue needs of the database. Each method is one
// transaction; each write also writes its activity, bumps the catalogue's
// revision and wakes environment.CatalogueSubject.
type Store interface {
	Companies(context.Context) ([]environment.Company, error)
	// CompaniesOf are those of the ids that exist, by name.
	CompaniesOf(context.Context, []uuid.UUID) ([]environment.Company, error)
	// Company is KindNotFound with code company_not_found.
	Company(context.Context, uuid.UUID) (environment.Company, error)
	// CreateCompany is KindConflict with code name_taken.
	CreateCompany(context.Context, environment.Company, environment.Activity) error

	Settings(context.Context) (environment.Settings, error)
	// UpdateSettings is KindInvalid with code environment_not_found or
	// environment_inactive when the default cannot be the default.
	UpdateSettings(context.Context, environment.SettingsPatch, environment.Activity) (environment.Settings, error)

	// EnsureLocal inserts the one local row when there is none and returns the
	// row; on a new instance with asDefault it also becomes the default. Two
	// servers at once make one row. A row of another driver that took the name
	// keeps it: the local one is then called "Local (this server)".
	EnsureLocal(ctx context.Context, local environment.Environment, asDefault bool) (environment.Environment, error)

	// ListEnvironments is one page. Last carries only the stages that warn or
	// failed (Probe.Remarks), so that a page stays small; Active carries all. A
	// cursor of another order is KindUnreadable with code invalid_cursor.
	ListEnvironments(context.Context, environment.ListFilter) (environment.Page[environment.EnvironmentView], error)
	// Environment is KindNotFound with code environment_not_found.
	Environment(context.Context, uuid.UUID) (environment.EnvironmentView, error)
	// CreateEnvironment is KindConflict: name_taken, or local_exists.
	CreateEnvironment(context.Context, Write) (environment.Environment, error)
	// UpdateEnvironment writes when the row still has revision expect, and
	// returns the row with the next one; KindStale with code stale_revision
	// when it has not, KindConflict as CreateEnvironment, and with code
	// environment_is_default when it would archive the default.
	UpdateEnvironment(ctx context.Context, w Write, expect int) (environment.Environment, error)
	Impact(context.Context, uuid.UUID) (environment.Impact, error)
	// DeleteEnvironment checks the impact inside its transaction: KindConflict
	// with code environment_in_use and detail "deleteBlockedReasons", KindStale
	// with code stale_revision when the row has another revision. History
	// (runs, leases, activity) stays readable; probes go with the row.
	DeleteEnvironment(context.Context, uuid.UUID, environment.DeleteOptions, environment.Activity) (environment.Environment, error)

	// Secret returns a secret's row and one of its values, by "latest" or a
	// number; KindNotFound with code secret_missing when either is not there.
	Secret(ctx context.Context, id uuid.UUID, version string) (environment.StoredSecret, environment.SecretVersion, error)
	// StoredSecrets are the rows of those that are there, in no order, without values.
	StoredSecrets(context.Context, ...uuid.UUID) ([]environment.StoredSecret, error)
	// EnvironmentBindings are an environment's references to companies' secrets, by
	// path.
	EnvironmentBindings(context.Context, uuid.UUID) ([]environment.SecretBinding, error)
	// RecordAccess notes openings of secrets; it need not wait for the disk.
	RecordAccess(context.Context, ...environment.SecretAccess) error
	// Qualification is what is recorded for an environment and a company; nil for
	// none.
	Qualification(ctx context.Context, environmentID, companyID uuid.UUID) (*environment.Qualification, error)
	// ManagedEnvironment is the managed sandbox; KindNotFound with code
	// environment_not_found when there is none.
	ManagedEnvironment(context.Context) (environment.EnvironmentView, error)
	// SetManagedProvider notes which provider's managed sandbox the instance's
	// configuration provisions now; "" for none.
	SetManagedProvider(ctx context.Context, provider string, a environment.Activity) error
	// ReferredVersions are the ids of the versions to which references lead now; a
	// reference that leads nowhere is left out.
	ReferredVersions(ctx context.Context, refs ...environment.SecretRef) (map[environment.SecretRef]uuid.UUID, error)
	// CatalogueRevision grows with every change of what the list shows, but for
	// the counts of Uses: leases and runs come and go too often for one row.
	CatalogueRevision(context.Context) (int64, error)

	Activity(context.Context, environment.ActivityFilter) (environment.Page[environment.Activity], error)
}

// Write is one change of an environment's row with its secrets.
type Write struct {
	Environment environment.Environment
	// NewSecrets are the environment's own and companies'. KindConflict with code
	// name_taken and detail "secret" (its name) when the company has one of that
	// name; with code too_many_secrets when it has environment.MaxCompanySecrets.
	NewSecrets []environment.SealedSecret
	// DropSecrets are own ones that the row refers to no longer. They stay, retired,
	// while a lease or a run that may need them is not clean.
	DropSecrets []uuid.UUID
	// Bindings are all references to companies' secrets; nil leaves those that are
	// stored. KindInvalid with code secret_missing when a secret is gone.
	Bindings []environment.SecretBinding
	// ConfigChanged says that driver, config or variables changed, so that the
	// store sets ConfigRevision to the new Revision.
	ConfigChanged bool
	// RevokeFor marks every qualification of the environment as revoked, for this
	// reason, in the same transaction; "" leaves them.
	RevokeFor string
	Activity  environment.Activity
	// MoreActivity is of secrets that were made on the way.
	MoreActivity []environment.Activity
}

// Service is the catalogue.
type Service struct {
	store   Store
	drivers environment.Drivers
	vault   environment.Vault
	now     func() time.Time
	log     *slog.Logger
	schemas schemas
	notes   crew.Crew // who opened secrets is noted beside the work
	cleanup cleanupNotes
}

// New returns the catalogue. All arguments are needed.
func New(store Store, drivers environment.Drivers, vault environment.Vault, now func() time.Time, log *slog.Logger) *Service {
	return &Service{store: store, drivers: drivers, vault: vault, now: now, log: log}
}

package store

import (
	"context"
	"database/sql"
	"errors"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// Settings implements catalogue.Store, probing.Store and running.Store.
func (db *DB) Settings(ctx context.Context) (environment.Settings, error) {
	var s environment.Settings
	err := db.get(ctx, "read the settings", &s, `
		select enable_environments, enable_managed_sandbox_only, default_environment_id, max_run_timeout_sec, managed_provider, revision, updated_at
		from instance`)
	s.UpdatedAt = s.UpdatedAt.UTC()
	return s, err
}

// UpdateSettings implements catalogue.Store.
func (db *DB) UpdateSettings(ctx context.Context, p environment.SettingsPatch, a environment.Activity) (environment.Settings, error) {
	var s environment.Settings
	err := db.tx(ctx, "change the settings", func(tx *sqlx.Tx) error {
		if p.DefaultEnvironmentID != nil {
			if err := mayBeDefault(ctx, tx, *p.DefaultEnvironmentID); err != nil {
				return err
			}
		}
		err := tx.GetContext(ctx, &s, `
			update instance set
				enable_environments = coalesce($1, enable_environments),
				enable_managed_sandbox_only = coalesce($2, enable_managed_sandbox_only),
				default_environment_id = case when $4 then null else coalesce($3, default_environment_id) end,
				max_run_timeout_sec = coalesce($5, max_run_timeout_sec),
				revision = revision + 1, updated_at = now()
			returning enable_environments, enable_managed_sandbox_only, default_environment_id, max_run_timeout_sec,
				managed_provider, revision, updated_at`,
			p.EnableEnvironments, p.EnableManagedSandboxOnly, p.DefaultEnvironmentID, p.ClearDefault, p.MaxRunTimeout)
		if err != nil {
			return err
		}
		if err := record(ctx, tx, a); err != nil {
			return err
		}
		return bump(ctx, tx)
	})
	s.UpdatedAt = s.UpdatedAt.UTC()
	return s, err
}

// mayBeDefault refuses what cannot be the default environment, and keeps the
// row as it is until tx ends.
func mayBeDefault(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) error {
	var status environment.Status
	err := tx.GetContext(ctx, &status, `select status from environments where id = $1 for share`, id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return environment.Invalid(environment.CodeEnvironmentNotFound, "There is no such environment.")
	case err != nil:
		return err
	case status != environment.StatusActive:
		return environment.Invalid(environment.CodeEnvironmentInactive, "Only an active environment can be the default.").
			Remedy(environment.Remedy(environment.CodeEnvironmentInactive))
	}
	return nil
}

// CatalogueRevision implements catalogue.Store.
func (db *DB) CatalogueRevision(ctx context.Context) (int64, error) {
	var revision int64
	err := db.get(ctx, "read the catalogue's revision", &revision, `select catalogue_revision from instance`)
	return revision, err
}

package store

import (
	"context"
	"database/sql"
	"errors"

	"berth/environment"
	"berth/environment/catalogue"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// Secret implements catalogue.Store.
func (db *DB) Secret(ctx context.Context, id uuid.UUID, version string) (environment.StoredSecret, environment.SecretVersion, error) {
	var s struct {
		environment.StoredSecret
		VersionID  uuid.UUID `db:"version_id"`
		Version    int       `db:"version"`
		Ciphertext []byte    `db:"ciphertext"`
	}
	err := db.get(ctx, "read a secret", &s, `
		select s.id, s.company_id, s.environment_id, s.name, s.disabled, s.latest_version, v.id as version_id, v.version, v.ciphertext
		from secrets s join secret_versions v on v.secret_id = s.id
		where s.id = $1 and v.version = case when $2 in ('', 'latest') then s.latest_version else $2::integer end`, id, version)
	if errors.Is(err, sql.ErrNoRows) {
		err = environment.NewError(environment.KindNotFound, environment.CodeSecretMissing, "There is no such secret.").
			Remedy(environment.Remedy(environment.CodeSecretMissing))
	}
	return s.StoredSecret, environment.SecretVersion{ID: s.VersionID, SecretID: s.ID, Version: s.Version, Ciphertext: s.Ciphertext}, err
}

// RecordAccess implements catalogue.Store.
func (db *DB) RecordAccess(context.Context, ...environment.SecretAccess) error { return nil }

// writeSecrets drops and adds the secrets of a write. Only those that the
// environment owns are dropped: shared ones never go.
func writeSecrets(ctx context.Context, tx *sqlx.Tx, w catalogue.Write) error {
	for _, id := range w.DropSecrets {
		if _, err := exec(ctx, tx, `delete from secrets where id = $1 and environment_id = $2`, id, w.Environment.ID); err != nil {
			return err
		}
	}
	for _, s := range w.NewSecrets {
		_, err := exec(ctx, tx, `
			with new as (insert into secrets (id, company_id, environment_id, name, disabled) values ($1, $2, $3, $4, $5) returning id)
			insert into secret_versions (id, secret_id, version, ciphertext) select id, id, 1, $6 from new`,
			s.ID, s.CompanyID, s.EnvironmentID, s.Name, s.Disabled, s.Ciphertext)
		if err != nil {
			return err
		}
	}
	return nil
}

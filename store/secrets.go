package store

import (
	"context"
	"database/sql"
	"errors"

	"berth/environment"
	"berth/environment/catalogue"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

const secretColumns = `id, company_id, environment_id, name, description, disabled, latest_version, created_by, created_at,
	updated_at, retired_at`

// secretInUTC is a secret's row as it is handed out.
func secretInUTC(s environment.StoredSecret) environment.StoredSecret {
	s.CreatedAt, s.UpdatedAt, s.RetiredAt = s.CreatedAt.UTC(), s.UpdatedAt.UTC(), utc(s.RetiredAt)
	return s
}

// Secret implements catalogue.Store.
func (db *DB) Secret(ctx context.Context, id uuid.UUID, version string) (environment.StoredSecret, environment.SecretVersion, error) {
	var s struct {
		environment.StoredSecret
		VersionID  uuid.UUID `db:"version_id"`
		Version    int       `db:"version"`
		Ciphertext []byte    `db:"ciphertext"`
	}
	err := db.get(ctx, "read a secret", &s, `
		select s.id, s.company_id, s.environment_id, s.name, s.description, s.disabled, s.latest_version, s.created_by, s.created_at,
			s.updated_at, s.retired_at, v.id as version_id, v.version, v.ciphertext
		from secrets s join secret_versions v on v.secret_id = s.id
		where s.id = $1 and v.version = case when $2 in ('', 'latest') then s.latest_version else $2::integer end`, id, version)
	if errors.Is(err, sql.ErrNoRows) {
		err = secretMissing()
	}
	return secretInUTC(s.StoredSecret), environment.SecretVersion{ID: s.VersionID, SecretID: s.ID, Version: s.Version, Ciphertext: s.Ciphertext}, err
}

func secretMissing() *environment.Error {
	return environment.NewError(environment.KindNotFound, environment.CodeSecretMissing, "There is no such secret.").
		Remedy(environment.Remedy(environment.CodeSecretMissing))
}

// StoredSecrets implements catalogue.Store.
func (db *DB) StoredSecrets(ctx context.Context, ids ...uuid.UUID) ([]environment.StoredSecret, error) {
	all := []environment.StoredSecret{}
	if len(ids) == 0 {
		return all, nil
	}
	err := db.list(ctx, "read secrets", &all, `select `+secretColumns+` from secrets where id = any($1)`, idTexts(ids))
	for i := range all {
		all[i] = secretInUTC(all[i])
	}
	return all, err
}

func idTexts(ids []uuid.UUID) pq.StringArray {
	texts := make(pq.StringArray, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return texts
}

const bindingColumns = `b.environment_id, e.name as environment_name, b.config_path, b.secret_id, b.company_id, b.version`

// EnvironmentBindings implements catalogue.Store.
func (db *DB) EnvironmentBindings(ctx context.Context, id uuid.UUID) ([]environment.SecretBinding, error) {
	all := []environment.SecretBinding{}
	err := db.list(ctx, "read what an environment is bound to", &all, `
		select `+bindingColumns+` from secret_bindings b join environments e on e.id = b.environment_id
		where b.environment_id = $1 order by b.config_path collate "C"`, id)
	return all, err
}

// writeSecrets drops, adds and binds the secrets of a write. Only those that the
// environment owns are dropped: shared ones never go.
func writeSecrets(ctx context.Context, tx *sqlx.Tx, w catalogue.Write) error {
	for _, s := range w.NewSecrets {
		if err := insertSecret(ctx, tx, s); err != nil {
			return err
		}
	}
	if err := retire(ctx, tx, w.Environment.ID, w.DropSecrets); err != nil {
		return err
	}
	return bind(ctx, tx, w.Environment.ID, w.Bindings)
}

// bind replaces an environment's references to companies' secrets; nil leaves them.
func bind(ctx context.Context, tx *sqlx.Tx, env uuid.UUID, bindings []environment.SecretBinding) error {
	if bindings == nil {
		return nil
	}
	if _, err := exec(ctx, tx, `delete from secret_bindings where environment_id = $1`, env); err != nil {
		return err
	}
	for _, b := range bindings {
		_, err := exec(ctx, tx, `
			insert into secret_bindings (environment_id, config_path, secret_id, company_id, version) values ($1, $2, $3, $4, $5)`,
			env, clean(b.ConfigPath), b.SecretID, b.CompanyID, b.Version)
		if err != nil {
			return err
		}
	}
	return nil
}

// insertSecret inserts a secret with its first version.
func insertSecret(ctx context.Context, tx *sqlx.Tx, s environment.SealedSecret) error {
	var key *string
	if s.CompanyID != nil {
		key = new(environment.NameKey(s.Name))
		if err := hasRoom(ctx, tx, *s.CompanyID); err != nil {
			return err
		}
	}
	n, err := exec(ctx, tx, `
		with new as (
			insert into secrets (id, company_id, environment_id, name, name_key, description, disabled, created_by, created_at, updated_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, coalesce($9, now()), coalesce($10, now()))
			on conflict (company_id, name_key) where company_id is not null do nothing returning id, created_at)
		insert into secret_versions (id, secret_id, version, ciphertext, created_by, created_at)
		select id, id, 1, $11, $8, created_at from new`,
		s.ID, s.CompanyID, s.EnvironmentID, clean(s.Name), key, cleanPtr(s.Description), s.Disabled, clean(s.CreatedBy),
		orNow(s.CreatedAt), orNow(s.UpdatedAt), s.Ciphertext)
	if err == nil && n == 0 {
		return environment.SecretNameTaken(s.Name)
	}
	return err
}

// hasRoom refuses one secret too many. The lock makes creations of one company
// wait for each other, so that they count right.
func hasRoom(ctx context.Context, tx *sqlx.Tx, company uuid.UUID) error {
	if _, err := exec(ctx, tx, `select 1 from companies where id = $1 for no key update`, company); err != nil {
		return err
	}
	var n int
	if err := tx.GetContext(ctx, &n, `select count(*) from secrets where company_id = $1`, company); err != nil {
		return err
	}
	if n >= environment.MaxCompanySecrets {
		return environment.TooManySecrets()
	}
	return nil
}

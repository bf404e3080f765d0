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
func (db *DB) Secret(ctx context.Context, id uuid.UUID) (environment.StoredSecret, []byte, error) {
	var s struct {
		environment.StoredSecret
		Ciphertext []byte `db:"ciphertext"`
	}
	err := db.get(ctx, "read a secret", &s, `
		select id, company_id, environment_id, name, disabled, ciphertext from secrets where id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = environment.NewError(environment.KindNotFound, environment.CodeSecretMissing, "There is no such secret.").
			Remedy(environment.Remedy(environment.CodeSecretMissing))
	}
	return s.StoredSecret, s.Ciphertext, err
}

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
			insert into secrets (id, company_id, environment_id, name, disabled, ciphertext) values ($1, $2, $3, $4, $5, $6)`,
			s.ID, s.CompanyID, s.EnvironmentID, s.Name, s.Disabled, s.Ciphertext)
		if err != nil {
			return err
		}
	}
	return nil
}

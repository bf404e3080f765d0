package store

import (
	"context"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// BindKeyset notes the fingerprint of the keyset with which this instance's
// secrets are sealed. The first server stores it. One with another keyset is
// refused with code keyset_mismatch, and must not start: it could open nothing
// and would seal what the others cannot open.
func (db *DB) BindKeyset(ctx context.Context, fingerprint string) error {
	return db.tx(ctx, "bind the keyset", func(tx *sqlx.Tx) error {
		var bound string
		err := tx.GetContext(ctx, &bound, `
			update instance set keyset_fingerprint = coalesce(keyset_fingerprint, $1) returning keyset_fingerprint`, fingerprint)
		if err != nil {
			return err
		}
		if bound != fingerprint {
			return environment.Conflict("keyset_mismatch", "The secrets in this database were sealed with another keyset.").
				Remedy("Start the server with the keyset file of the data (--keyset). Its fingerprint is " + bound + ", this one's is " + fingerprint + ".")
		}
		return nil
	})
}

// InstanceID is the id that this database got when it was made.
func (db *DB) InstanceID(ctx context.Context) (uuid.UUID, error) {
	var id uuid.UUID
	err := db.get(ctx, "read the instance's id", &id, `select id from instance`)
	return id, err
}

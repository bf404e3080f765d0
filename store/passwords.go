package store

import (
	"context"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// PasswordHash implements identity.Store.
func (db *DB) PasswordHash(ctx context.Context, id uuid.UUID) (string, error) {
	var hash string
	err := db.get(ctx, "read a password's hash", &hash, `select password_hash from people where id = $1`, id)
	return hash, missing(err, "person")
}

// SetPassword implements identity.Store.
func (db *DB) SetPassword(ctx context.Context, person uuid.UUID, hash string, keep *uuid.UUID, a environment.Activity) error {
	return db.tx(ctx, "set a password", func(tx *sqlx.Tx) error {
		if err := setPassword(ctx, tx, person, hash, keep); err != nil {
			return err
		}
		return record(ctx, tx, a)
	})
}

// setPassword stores a hash, ends every session of the person but keep and revokes
// the links with which another password could be set.
func setPassword(ctx context.Context, tx *sqlx.Tx, person uuid.UUID, hash string, keep *uuid.UUID) error {
	// Before the person's row: whoever redeems a link takes them in this order.
	if err := revokeLinksOf(ctx, tx, person); err != nil {
		return err
	}
	n, err := exec(ctx, tx, `update people set password_hash = $2, updated_at = now() where id = $1`, person, hash)
	if err == nil && n == 0 {
		return environment.NotFound("person")
	}
	if err != nil {
		return err
	}
	_, err = endSessions(ctx, tx, `person_id = $2 and id is distinct from $3::uuid`, person, keep)
	return err
}

// Rehash implements identity.Store.
func (db *DB) Rehash(ctx context.Context, person uuid.UUID, from, to string) error {
	return db.tx(ctx, "hash a password afresh", func(tx *sqlx.Tx) error {
		_, err := exec(ctx, tx, `update people set password_hash = $3 where id = $1 and password_hash = $2`, person, from, to)
		return err
	})
}

package store

import (
	"context"
	"slices"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// BindKeyset notes the fingerprint of the keyset with which this instance's
// secrets are sealed. The first server stores it. One whose keyset does not hold
// that key, as its primary or among the others, is refused with code
// keyset_mismatch, and must not start: it could open nothing and would seal what
// the servers with the right keyset cannot open.
func (db *DB) BindKeyset(ctx context.Context, primary string, others ...string) error {
	return db.tx(ctx, "bind the keyset", func(tx *sqlx.Tx) error {
		var bound string
		err := tx.GetContext(ctx, &bound, `
			update instance set keyset_fingerprint = coalesce(keyset_fingerprint, $1) returning keyset_fingerprint`, primary)
		if err != nil || bound == primary || slices.Contains(others, bound) {
			return err
		}
		return environment.Conflict("keyset_mismatch", "The secrets in this database were sealed with another keyset.").
			Remedy("Start the server with the keyset file of the data (--keyset). Its fingerprint is " + bound + ", this one's is " + primary + ".")
	})
}

// KeysetFingerprint implements secrets.Store.
func (db *DB) KeysetFingerprint(ctx context.Context) (string, error) {
	var bound string
	err := db.get(ctx, "read which keyset is bound", &bound, `select coalesce(keyset_fingerprint, '') from instance`)
	return bound, err
}

// WakeKeyset implements secrets.Store.
func (db *DB) WakeKeyset(ctx context.Context) error {
	return db.tx(ctx, "tell of a new key", func(tx *sqlx.Tx) error { return wake(ctx, tx, environment.KeysetSubject) })
}

// sealLock is the advisory lock of the trigger refuse_old_seal.
const sealLock = 4812005

// MoveKeyset implements secrets.Store. The lock waits for every write of a sealed
// value that has begun; those that begin later are refused when an old key sealed them.
func (db *DB) MoveKeyset(ctx context.Context, from, to string, refused [][]byte, a environment.Activity) error {
	return db.tx(ctx, "move to another key", func(tx *sqlx.Tx) error {
		if _, err := exec(ctx, tx, `select pg_advisory_xact_lock($1)`, sealLock); err != nil {
			return err
		}
		n, err := exec(ctx, tx, `update instance set keyset_fingerprint = $2, keyset_refused = keyset_refused || $3
			where keyset_fingerprint = $1`, from, to, pq.ByteaArray(refused))
		if err != nil {
			return err
		}
		if n == 0 {
			return environment.Conflict("keyset_mismatch", "Another key than this server's is in use by now.").
				Remedy("Read the keyset file again: restart this server.")
		}
		if err := record(ctx, tx, a); err != nil {
			return err
		}
		return wake(ctx, tx, environment.KeysetSubject)
	})
}

// InstanceID is the id that this database got when it was made.
func (db *DB) InstanceID(ctx context.Context) (uuid.UUID, error) {
	var id uuid.UUID
	err := db.get(ctx, "read the instance's id", &id, `select id from instance`)
	return id, err
}

package store

import (
	"context"
	"time"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// KeepRemains implements running.Store.
func (db *DB) KeepRemains(ctx context.Context, run, lease uuid.UUID) error {
	return db.tx(ctx, "note what a run left", func(tx *sqlx.Tx) error {
		_, err := exec(ctx, tx, `
			insert into run_remains (run_id, lease_id, until) values ($1, $2, now() + $3 * interval '1 second')
			on conflict (run_id) do nothing`, run, lease, environment.RemainsKept.Seconds())
		return err
	})
}

// ClaimRemains implements running.Store.
func (db *DB) ClaimRemains(ctx context.Context, owner uuid.UUID, limit int, hold time.Duration) ([]environment.Remains, error) {
	var claimed []environment.Remains
	err := db.tx(ctx, "claim what runs left", func(tx *sqlx.Tx) error {
		claimed = nil
		return tx.SelectContext(ctx, &claimed, `
			update run_remains set owner = $1, next_at = now() + $3 * interval '1 second' where run_id in (
				select x.run_id from run_remains x join runs r on r.id = x.run_id
				where r.status in ('succeeded', 'failed', 'cancelled', 'timed_out', 'lost')
				and (x.next_at <= now() or x.owner is not null and not `+alive("x.owner")+`)
				order by x.next_at limit $2 for update of x skip locked)
			returning run_id, lease_id, tries`, owner, limit, hold.Seconds())
	})
	return claimed, err
}

// PostponeRemains implements running.Store.
func (db *DB) PostponeRemains(ctx context.Context, run, owner uuid.UUID, wait time.Duration) (bool, error) {
	var given int64
	err := db.tx(ctx, "put off what a run left", func(tx *sqlx.Tx) (err error) {
		if given, err = exec(ctx, tx, `delete from run_remains where run_id = $1 and owner = $2 and until <= now()`, run, owner); err != nil || given > 0 {
			return err
		}
		_, err = exec(ctx, tx, `
			update run_remains set owner = null, tries = tries + 1, next_at = now() + $3 * interval '1 second'
			where run_id = $1 and owner = $2`, run, owner, wait.Seconds())
		return err
	})
	return given > 0, err
}

// DropRemains implements running.Store.
func (db *DB) DropRemains(ctx context.Context, run, owner uuid.UUID) error {
	return db.tx(ctx, "forget what a run left", func(tx *sqlx.Tx) error {
		_, err := exec(ctx, tx, `delete from run_remains where run_id = $1 and owner = $2`, run, owner)
		return err
	})
}

package store

import (
	"context"

	"berth/environment"

	"github.com/jmoiron/sqlx"
)

// Transient are the tables that a backup holds the shape of only: whoever was
// signed in signs in again.
func Transient() []string { return []string{"cookie_sessions", "person_sessions", "sign_in_failures"} }

// Empty reports whether the database holds nothing at all of anybody's.
func (db *DB) Empty(ctx context.Context) (bool, error) {
	var empty bool
	err := db.get(ctx, "look whether the database is empty", &empty, `
		select not exists (
			select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
			where n.nspname <> 'information_schema' and n.nspname not like 'pg\_%')`)
	return empty, err
}

// ServerMajor is PostgreSQL's major version.
func (db *DB) ServerMajor(ctx context.Context) (int, error) {
	var major int
	err := db.get(ctx, "read PostgreSQL's version", &major, `select current_setting('server_version_num')::integer / 10000`)
	return major, err
}

// Restored does what follows from the data being those of a backup: nobody is
// signed in, links that were open then open nothing now, and no server of then
// owns anything or is at a clean-up. It returns how many environments there are.
//
// The installation keeps its id. Its leases are taken over as those of dead
// servers; sandboxes that were kept are asked for when they are wanted, or expire,
// and one that is gone by then costs its row only; what was made after the backup
// is found under the id, held by no row, and removed. So the installation of
// before must run no more.
func (db *DB) Restored(ctx context.Context, a environment.Activity) (int, error) {
	var environments int
	err := db.tx(ctx, "settle restored data", func(tx *sqlx.Tx) error {
		for _, table := range Transient() {
			if _, err := exec(ctx, tx, `delete from `+table); err != nil {
				return err
			}
		}
		for _, statement := range []string{
			`update one_time_links set revoked_at = now() where ` + linkIsOpen,
			`update servers set retired_at = now() where retired_at is null`,
			`update environment_leases set cleanup_claim_until = null where cleanup_claim_until is not null`,
			`update run_remains set owner = null, next_at = least(next_at, now()) where owner is not null`,
		} {
			if _, err := exec(ctx, tx, statement); err != nil {
				return err
			}
		}
		if err := record(ctx, tx, a); err != nil {
			return err
		}
		return tx.GetContext(ctx, &environments, `select count(*) from environments`)
	})
	return environments, err
}

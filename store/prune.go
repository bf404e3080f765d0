package store

import (
	"context"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// PruneDrafts implements probing.Store.
func (db *DB) PruneDrafts(ctx context.Context, limit int) (int, error) {
	var n int64
	err := db.tx(ctx, "delete old probes of drafts", func(tx *sqlx.Tx) error {
		var ids []uuid.UUID
		err := tx.SelectContext(ctx, &ids, `
			select id from probes where draft and finished_at < now() - $1 * interval '1 second'
			order by finished_at limit $2 for update skip locked`, environment.DraftsKept.Seconds(), limit)
		if err != nil || len(ids) == 0 {
			n = 0
			return err
		}
		if _, err := exec(ctx, tx, `delete from events where subject = any($1)`, idArray(ids)); err != nil {
			return err
		}
		n, err = exec(ctx, tx, `delete from probes where id = any($1)`, idArray(ids))
		return err
	})
	return int(n), err
}

// PruneAccesses implements secrets.Store. Each secret's openings are read along
// their index, so that a secret that is opened often does not hold up the others.
func (db *DB) PruneAccesses(ctx context.Context, limit int) (int, error) {
	var n int64
	err := db.tx(ctx, "delete old openings of secrets", func(tx *sqlx.Tx) (err error) {
		n, err = exec(ctx, tx, `
			delete from secret_accesses where id in (
				select x.id from secrets s cross join lateral (
					(select a.id from secret_accesses a where a.secret_id = s.id order by a.at desc, a.id desc offset $1 limit $2)
					union
					(select a.id from secret_accesses a where a.secret_id = s.id and a.at < now() - $3 * interval '1 second' limit $2)
				) x limit $2)`, environment.AccessesKept, limit, environment.AccessesKeptFor.Seconds())
		return err
	})
	return int(n), err
}

package store

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// heldByLease tells of a secret s whether a lease that is not clean was made with
// it, or may be being made with it. A lease says so itself once it holds something.
const heldByLease = `exists (
	select 1 from environment_leases l
	where l.status in ('acquiring', 'active', 'releasing', 'retained', 'pending_cleanup')
		and (l.ref::text like '%' || s.id::text || '%'
			or l.ref is null and l.environment_id is not null and (l.environment_id = s.environment_id
				or exists (select 1 from secret_bindings b where b.environment_id = l.environment_id and b.secret_id = s.id))))`

// leftByRun tells of a secret s whether something that a run left on a target is
// to be removed with it yet.
const leftByRun = `exists (
	select 1 from run_remains x join environment_leases l on l.id = x.lease_id where l.ref::text like '%' || s.id::text || '%')`

// needed tells of an environment's own secret s whether work that has not ended
// may need it: a run reads what it needs before it has its lease.
const needed = `(` + heldByLease + ` or ` + leftByRun + ` or exists (
	select 1 from runs r where r.environment_id = s.environment_id
		and r.status in ('queued', 'acquiring', 'preparing', 'running', 'cancelling')))`

// retire drops secrets that an environment owns: at once, or, while work may need
// them for its cleanup, by a later sweep.
func retire(ctx context.Context, tx *sqlx.Tx, owner uuid.UUID, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := exec(ctx, tx, `update secrets set retired_at = now() where environment_id = $1 and id = any($2) and retired_at is null`, owner, idTexts(ids))
	if err != nil {
		return err
	}
	_, err = exec(ctx, tx, `delete from secrets s where s.environment_id = $1 and s.id = any($2) and not `+needed, owner, idTexts(ids))
	return err
}

// retireAll is retire of all that an environment owns.
func retireAll(ctx context.Context, tx *sqlx.Tx, owner uuid.UUID) error {
	var ids []uuid.UUID
	if err := tx.SelectContext(ctx, &ids, `select id from secrets where environment_id = $1 for update`, owner); err != nil {
		return err
	}
	return retire(ctx, tx, owner, ids)
}

// SweepSecrets implements secrets.Store.
func (db *DB) SweepSecrets(ctx context.Context) (int, error) {
	var n int64
	err := db.tx(ctx, "sweep retired secrets", func(tx *sqlx.Tx) (err error) {
		n, err = exec(ctx, tx, `delete from secrets s where s.retired_at is not null and not `+needed)
		return err
	})
	return int(n), err
}

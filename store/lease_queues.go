package store

import (
	"context"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// atWork is a condition: the run that a column names is under way.
func atWork(run string) string {
	return ` exists (select 1 from runs r where r.id = ` + run + ` and r.status in ('queued', 'acquiring', 'preparing', 'running', 'cancelling'))`
}

// take changes leases that are l of a condition, those first that wait longest,
// and returns them. What another transaction is taking is left to it. Limit is
// $1, owner is $2.
func (db *DB) take(ctx context.Context, what, set, condition, order string, limit int, owner uuid.UUID, args ...any) ([]environment.Lease, error) {
	var taken []environment.Lease
	err := db.alone(ctx, what, func(ctx context.Context) error {
		taken = nil
		return afresh(func() error {
			return db.pool.SelectContext(ctx, &taken, `
				update environment_leases set `+set+` where id in (
					select l.id from environment_leases l where `+condition+` order by `+order+`, l.id limit $1 for no key update skip locked)
				returning `+leaseColumns, append([]any{limit, owner}, args...)...)
		})
	})
	return leasesInUTC(taken), err
}

// OrphanedLeases implements leasing.Store. What waits for its clean-up has a queue
// of its own, and what is kept has no server.
func (db *DB) OrphanedLeases(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Lease, error) {
	return db.take(ctx, "take over leases", `owner = $2,
		cleanup_claim_until = case when not `+retired("environment_leases.owner")+` then cleanup_claim_until end`,
		inUse("l.status")+` and l.owner <> $2 and not `+alive("l.owner")+` and not `+atWork("l.run_id"),
		`l.expires_at`, limit, owner)
}

// ExpiredLeases implements leasing.Store.
func (db *DB) ExpiredLeases(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Lease, error) {
	return db.take(ctx, "take over leases that expired", `owner = $2, expires_at = now() + $4::double precision * interval '1 second'`, `
		l.status in ('acquiring', 'active', 'retained') and l.expires_at <= now()
		and database_started() <= now() - $3::double precision * interval '1 second'
		and case l.status
			when 'retained' then not exists (select 1 from environment_leases r where r.resumes = l.id and r.status = 'acquiring')
			else not `+atWork("l.run_id")+` end`,
		`l.expires_at`, limit, owner, environment.LeaseTTL.Seconds(), environment.ExpiredHold.Seconds())
}

// ClaimCleanups implements leasing.Store.
func (db *DB) ClaimCleanups(ctx context.Context, owner uuid.UUID, limit int, hold time.Duration) ([]environment.Lease, error) {
	return db.take(ctx, "claim clean-ups", `owner = $2, cleanup_claim_until = now() + $3::double precision * interval '1 second'`, `
		l.status = 'pending_cleanup' and (l.cleanup_next_at <= now() or l.cleanup_next_at is null)
		and (l.cleanup_claim_until <= now() or l.cleanup_claim_until is null or `+retired("l.owner")+`)`,
		`l.cleanup_next_at nulls first`, limit, owner, hold.Seconds())
}

// BeatLeases implements leasing.Store. A beat need not be on the disk: after a
// crash of the database nothing expires for as long as a lease lives without one.
func (db *DB) BeatLeases(ctx context.Context, owner uuid.UUID, ids []uuid.UUID) ([]uuid.UUID, error) {
	lost := []uuid.UUID{}
	if len(ids) == 0 {
		return lost, nil
	}
	var beaten []struct {
		ID   uuid.UUID `db:"id"`
		Lazy *string   `db:"lazy"`
	}
	err := db.alone(ctx, "beat for leases", func(ctx context.Context) error {
		beaten = nil
		return afresh(func() error {
			return db.pool.SelectContext(ctx, &beaten, `
				update environment_leases set heartbeat_at = now(),
					expires_at = case when status = 'releasing' then expires_at else now() + ttl_sec * interval '1 second' end
				where id = any($1::uuid[]) and owner = $2 and `+inUse("status")+` returning id, `+lazily("true")+` as lazy`, idArray(ids), owner)
		})
	})
	if err != nil {
		return nil, err
	}
	held := make(map[uuid.UUID]bool, len(beaten))
	for _, b := range beaten {
		held[b.ID] = true
	}
	for _, id := range ids {
		if !held[id] {
			lost = append(lost, id)
		}
	}
	return lost, nil
}

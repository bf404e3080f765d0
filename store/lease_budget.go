package store

import (
	"context"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// usageQuery is what an environment uses now and, when $2 says so, used today in
// UTC. Each half is found by an index: what is in use, and what was until some time
// of today. A sandbox that was kept and is being released is in use, but its minutes
// have ended.
const usageQuery = `
	with today as (select date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' as began)
	select running.active, (running.seconds + ended.seconds) / 60 as minutes
	from today cross join lateral (
		select count(*) as active,
			coalesce(sum(greatest(0, date_part('epoch', coalesce(used_until, now()) - greatest(used_from, began)))) filter (where used_until is null), 0) as seconds
		from environment_leases where environment_id = $1 and status in ('acquiring', 'active', 'releasing')
	) running cross join lateral (
		select coalesce(sum(greatest(0, date_part('epoch', used_until - greatest(used_from, began)))), 0) as seconds
		from environment_leases where $2::boolean and environment_id = $1 and used_until >= began
	) ended`

type usageRow struct {
	Active  int     `db:"active"`
	Minutes float64 `db:"minutes"`
}

func (r usageRow) domain() environment.Usage {
	return environment.Usage{ActiveLeases: r.Active, MinutesToday: r.Minutes}
}

// Usage implements leasing.Store.
func (db *DB) Usage(ctx context.Context, environmentID uuid.UUID) (environment.Usage, error) {
	var r usageRow
	err := db.get(ctx, "read what of a budget is used", &r, usageQuery, environmentID, true)
	return r.domain(), err
}

// keepBudget refuses one lease too many. The lock makes creations in one
// environment that has a budget wait for each other, so that they count right. A
// lease that is there already takes nothing.
func keepBudget(ctx context.Context, tx *sqlx.Tx, environmentID, leaseID uuid.UUID) error {
	var e struct {
		Budget stored `db:"budget"`
		Made   bool   `db:"made"`
	}
	err := tx.GetContext(ctx, &e, `
		select budget, exists (select 1 from environment_leases where id = $2) as made
		from environments where id = $1 for no key update`, environmentID, leaseID)
	if err != nil {
		return missing(err, "environment")
	}
	var budget *environment.Budget
	if err := e.Budget.into(&budget); err != nil || budget == nil || e.Made {
		return err
	}
	var r usageRow
	if err := tx.GetContext(ctx, &r, usageQuery, environmentID, budget.LeaseMinutesPerDay > 0); err != nil {
		return err
	}
	if refusal := budget.Refusal(r.domain()); refusal != nil {
		return refusal
	}
	return nil
}

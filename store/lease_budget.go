package store

import (
	"context"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// usageQuery is what an environment uses now and used today, in UTC. Each half is
// found by an index: what is in use, and what was until some time of today.
const usageQuery = `
	with today as (select date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' as began),
	spans as (
		select case when l.used_until is null then l.used_from else now() end as used_from, now() as used_until, 1 as active from environment_leases l
		where l.environment_id = $1 and l.status in ('acquiring', 'active', 'releasing')
		union all
		select l.used_from, l.used_until, 0 from environment_leases l, today
		where l.environment_id = $1 and l.used_until >= today.began)
	select count(*) filter (where active = 1) as active,
		coalesce(sum(greatest(0, extract(epoch from spans.used_until - greatest(spans.used_from, today.began)))) / 60, 0)::double precision as minutes
	from spans, today`

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
	err := db.get(ctx, "read what of a budget is used", &r, usageQuery, environmentID)
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
	if err := tx.GetContext(ctx, &r, usageQuery, environmentID); err != nil {
		return err
	}
	if refusal := budget.Refusal(r.domain()); refusal != nil {
		return refusal
	}
	return nil
}

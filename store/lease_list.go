package store

import (
	"context"

	"berth/environment"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

// isHeld is a condition: a lease holds something, or may. It is that of the index
// leases_held.
const isHeld = `status in ('acquiring', 'active', 'releasing', 'retained', 'pending_cleanup')`

// Lease implements leasing.Store and running.Store.
func (db *DB) Lease(ctx context.Context, id uuid.UUID) (environment.Lease, error) {
	var l environment.Lease
	err := db.get(ctx, "read a lease", &l, `select `+leaseColumns+` from environment_leases where id = $1`, id)
	return leaseInUTC(l), missing(err, "lease")
}

// LeasesByID implements leasing.Store.
func (db *DB) LeasesByID(ctx context.Context, ids []uuid.UUID) ([]environment.Lease, error) {
	if len(ids) == 0 {
		return []environment.Lease{}, nil
	}
	return db.leases(ctx, "read leases", `id = any($1::uuid[])`, idArray(ids))
}

// HeldLeases implements leasing.Store.
func (db *DB) HeldLeases(ctx context.Context, key environment.DriverKey) ([]environment.Lease, error) {
	return db.leases(ctx, "read what a provider holds", isHeld+` and status <> 'acquiring' and driver = $1 and ($2 = '' or provider = $2)`,
		key.Driver, key.Provider)
}

// Retained implements leasing.Store.
func (db *DB) Retained(ctx context.Context, scope leasing.Scope) ([]environment.Lease, error) {
	return db.leases(ctx, "read what is kept", `
		status = 'retained' and environment_id = $1 and company_id = $2 and agent_id is not distinct from $3 and workspace_id is not distinct from $4`,
		scope.EnvironmentID, scope.CompanyID, scope.AgentID, scope.WorkspaceID)
}

// leases are those of a condition, newest use first.
func (db *DB) leases(ctx context.Context, what, condition string, args ...any) ([]environment.Lease, error) {
	var all []environment.Lease
	err := db.list(ctx, what, &all, `
		select `+leaseColumns+` from environment_leases where `+condition+` order by last_used_at desc, id desc`, args...)
	return leasesInUTC(all), err
}

// Leases implements leasing.Store.
func (db *DB) Leases(ctx context.Context, f leasing.Filter) (environment.Page[environment.Lease], error) {
	page := environment.Page[environment.Lease]{}
	after, err := readCursor(f.Cursor, "leases", 1)
	if err != nil {
		return page, err
	}
	var q query
	q.add(`select `, leaseColumns, `, last_used_at::text as key from environment_leases`)
	q.whereWork(f.CompanyID, f.Companies, f.EnvironmentID, string(f.Status))
	q.whereLease(f)
	if after != nil {
		q.where("(last_used_at, id) < (", q.arg(after.Keys[0]), "::timestamptz, ", q.arg(after.ID), ")")
	}
	size := pageSize(f.Limit)
	q.add(" order by last_used_at desc, id desc limit ", q.arg(size+1))
	var rows []struct {
		environment.Lease
		Key string `db:"key"`
	}
	if err := db.page(ctx, "list leases", &rows, &q, after); err != nil {
		return page, err
	}
	if len(rows) > size {
		rows = rows[:size]
		page.Next = cursor{Order: "leases", Keys: []string{rows[size-1].Key}, ID: rows[size-1].ID}.String()
	}
	page.Items = make([]environment.Lease, 0, len(rows))
	for _, r := range rows {
		page.Items = append(page.Items, leaseInUTC(r.Lease))
	}
	return page, nil
}

// whereLease narrows leases by what only they have.
func (q *query) whereLease(f leasing.Filter) {
	if f.OwnerKind != "" {
		q.where("owner_kind = ", q.arg(clean(f.OwnerKind)))
		if f.OwnerKind != environment.OwnerRun {
			q.where("owner_kind <> 'run'") // which is that of an index
		}
	}
	if f.Held {
		q.where(isHeld)
	}
	if f.DeadLetter {
		q.where("status = 'pending_cleanup' and dead_letter_at is not null")
	}
	if f.Driver.Driver != "" {
		q.where("driver = ", q.arg(clean(f.Driver.Driver)))
	}
	if f.Driver.Provider != "" {
		q.where("provider = ", q.arg(clean(f.Driver.Provider)))
	}
}

// whereWork narrows runs or leases.
func (q *query) whereWork(companyID *uuid.UUID, companies []uuid.UUID, environmentID *uuid.UUID, status string) {
	if companyID != nil {
		q.where("company_id = ", q.arg(*companyID))
	}
	if companies != nil {
		q.where("company_id = any(", q.arg(idArray(companies)), "::uuid[])")
	}
	if environmentID != nil {
		q.where("environment_id = ", q.arg(*environmentID))
	}
	if status != "" {
		q.where("status = ", q.arg(status))
	}
}

package store

import (
	"context"

	"berth/environment"
	"berth/environment/leasing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

const leaseColumns = `id, company_id, environment_id, run_id, owner_kind, status, lease_policy, driver, provider, provider_lease_id,
	coalesce(ref, 'null') as ref, acquired_at, last_used_at, expires_at, released_at, failure_reason, cleanup_status,
	coalesce(receipt, 'null') as receipt, coalesce(metadata, 'null') as metadata, owner, created_at, updated_at`

// leaseInUTC is a lease as it is handed out.
func leaseInUTC(l environment.Lease) environment.Lease {
	l.AcquiredAt, l.LastUsedAt, l.CreatedAt, l.UpdatedAt = l.AcquiredAt.UTC(), l.LastUsedAt.UTC(), l.CreatedAt.UTC(), l.UpdatedAt.UTC()
	l.ExpiresAt, l.ReleasedAt = utc(l.ExpiresAt), utc(l.ReleasedAt)
	return l
}

// CreateLease implements leasing.Store.
func (db *DB) CreateLease(ctx context.Context, l environment.Lease) error {
	return db.tx(ctx, "create a lease", func(tx *sqlx.Tx) error {
		_, err := exec(ctx, tx, `
			insert into environment_leases (id, company_id, environment_id, run_id, owner_kind, status, lease_policy, driver, provider,
				provider_lease_id, ref, acquired_at, last_used_at, expires_at, released_at, failure_reason, cleanup_status, receipt,
				metadata, owner, created_at, updated_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12, now()), coalesce($13, now()), $14, $15, $16, $17, $18,
				$19, $20, coalesce($21, now()), coalesce($22, now()))
			returning `+lazily("$23"),
			l.ID, l.CompanyID, l.EnvironmentID, l.RunID, l.OwnerKind, string(l.Status), l.Policy, l.Driver, l.Provider,
			cleanPtr(l.ProviderID), document{l.Ref}, orNow(l.AcquiredAt), orNow(l.LastUsedAt), l.ExpiresAt, l.ReleasedAt,
			cleanPtr(l.FailureReason), l.CleanupStatus, document{l.Receipt}, document{l.Metadata}, l.Owner, orNow(l.CreatedAt), orNow(l.UpdatedAt),
			l.Borrowed() && l.Status == environment.LeaseAcquiring)
		return err
	})
}

// UpdateLease implements leasing.Store.
func (db *DB) UpdateLease(ctx context.Context, id uuid.UUID, change func(*environment.Lease) error, a *environment.Activity) (environment.Lease, error) {
	var l environment.Lease
	err := db.tx(ctx, "change a lease", func(tx *sqlx.Tx) error {
		l = environment.Lease{}
		err := tx.GetContext(ctx, &l, `select `+leaseColumns+` from environment_leases where id = $1 for no key update`, id)
		if err != nil {
			return missing(err, "lease")
		}
		before := l.Status
		if l = leaseInUTC(l); change != nil {
			if err := change(&l); err != nil {
				return err
			}
		}
		if l.Status != before && !before.CanBecome(l.Status) {
			return environment.Conflict("lease_state_changed", "The lease is "+string(before)+" and cannot become "+string(l.Status)+".")
		}
		l.ID = id
		if err := updateLease(ctx, tx, &l); err != nil || a == nil {
			return err
		}
		return record(ctx, tx, *a)
	})
	return l, err
}

// updateLease stores a lease over its row, and reads it back.
func updateLease(ctx context.Context, tx *sqlx.Tx, l *environment.Lease) error {
	in := *l
	var out struct {
		environment.Lease
		Lazy *string `db:"lazy"`
	}
	err := tx.GetContext(ctx, &out, `
		update environment_leases set company_id = $2, environment_id = $3, run_id = $4, owner_kind = $5, status = $6,
			lease_policy = $7, driver = $8, provider = $9, provider_lease_id = $10, ref = $11, acquired_at = $12, last_used_at = $13,
			expires_at = $14, released_at = $15, failure_reason = $16, cleanup_status = $17, receipt = $18, metadata = $19, owner = $20,
			updated_at = now()
		where id = $1 returning `+leaseColumns+`, `+lazily("$21")+` as lazy`,
		in.ID, in.CompanyID, in.EnvironmentID, in.RunID, in.OwnerKind, string(in.Status), in.Policy, in.Driver, in.Provider,
		cleanPtr(in.ProviderID), document{in.Ref}, in.AcquiredAt, in.LastUsedAt, in.ExpiresAt, in.ReleasedAt,
		cleanPtr(in.FailureReason), in.CleanupStatus, document{in.Receipt}, document{in.Metadata}, in.Owner,
		in.Borrowed() && in.Status == environment.LeaseActive)
	*l = leaseInUTC(out.Lease)
	return err
}

// Lease implements leasing.Store and running.Store.
func (db *DB) Lease(ctx context.Context, id uuid.UUID) (environment.Lease, error) {
	var l environment.Lease
	err := db.get(ctx, "read a lease", &l, `select `+leaseColumns+` from environment_leases where id = $1`, id)
	return leaseInUTC(l), missing(err, "lease")
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

// OrphanedLeases implements leasing.Store.
func (db *DB) OrphanedLeases(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Lease, error) {
	all := []environment.Lease{}
	err := db.tx(ctx, "take over leases", func(tx *sqlx.Tx) error {
		all = all[:0]
		return tx.SelectContext(ctx, &all, `
			update environment_leases set owner = $1 where id in (
				select l.id from environment_leases l
				where l.status in ('acquiring', 'active', 'releasing', 'pending_cleanup') and l.owner <> $1
					and not `+alive("l.owner")+`
					and not exists (select 1 from runs r where r.id = l.run_id
						and r.status in ('queued', 'acquiring', 'preparing', 'running', 'cancelling'))
				order by l.id limit $2 for update skip locked)
			returning `+leaseColumns, owner, limit)
	})
	for i := range all {
		all[i] = leaseInUTC(all[i])
	}
	return all, err
}

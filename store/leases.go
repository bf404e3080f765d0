package store

import (
	"cmp"
	"context"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// CreateLease implements leasing.Store. Where there is no budget to keep it is one
// statement. A second time does nothing more.
func (db *DB) CreateLease(ctx context.Context, l environment.Lease) error {
	l.TTLSec = cmp.Or(l.TTLSec, int(environment.LeaseTTL.Seconds()))
	l.RetainSec = cmp.Or(l.RetainSec, int(environment.RetainedFor.Seconds()))
	args := append(leaseArgs(l), orNow(l.CreatedAt), orNow(l.UpdatedAt), l.Borrowed() && l.Status == environment.LeaseAcquiring)
	var made int64
	err := db.alone(ctx, "create a lease", func(ctx context.Context) error {
		return afresh(func() error {
			insert, err := db.often(ctx, createLease)
			if err != nil {
				return err
			}
			res, err := insert.ExecContext(ctx, args...)
			if err != nil {
				return err
			}
			made, err = res.RowsAffected()
			return err
		})
	})
	if err != nil || made > 0 || l.EnvironmentID == nil {
		return err
	}
	return db.budgets.do(ctx, *l.EnvironmentID, func() error {
		return db.tx(ctx, "create a lease within a budget", func(tx *sqlx.Tx) error {
			if err := keepBudget(ctx, tx, *l.EnvironmentID, l.ID); err != nil {
				return err
			}
			_, err := exec(ctx, tx, insertLease+` on conflict (id) do nothing`, args[:len(args)-1]...)
			return err
		})
	})
}

// versioned is a lease with what tells this version of its row from the next.
type versioned struct {
	environment.Lease
	Version string `db:"version"`
}

// UpdateLease implements leasing.Store. It locks nothing while change is at work:
// when the row has changed meanwhile, change sees the new one.
func (db *DB) UpdateLease(ctx context.Context, id uuid.UUID, change func(*environment.Lease) error, a *environment.Activity) (environment.Lease, error) {
	for {
		var row versioned
		err := db.read(ctx, "read a lease", func(ctx context.Context) error {
			read, err := db.often(ctx, readLease)
			if err != nil {
				return err
			}
			return read.GetContext(ctx, &row, id)
		})
		if err != nil {
			return environment.Lease{}, missing(err, "lease")
		}
		l, err := changed(row.Lease, change)
		if err != nil {
			return environment.Lease{}, err
		}
		text, args := changeText(l, row.Version, a)
		var made []changedRow
		err = db.alone(ctx, "change a lease", func(ctx context.Context) error {
			change, err := db.often(ctx, text)
			if err != nil {
				return err
			}
			return change.SelectContext(ctx, &made, args...)
		})
		if err != nil {
			return environment.Lease{}, err
		}
		if len(made) == 1 {
			return leaseInUTC(made[0].Lease), nil
		}
	}
}

// changed is a lease after a change; a move that is none is refused.
func changed(before environment.Lease, change func(*environment.Lease) error) (environment.Lease, error) {
	l := leaseInUTC(before)
	if change != nil {
		if err := change(&l); err != nil {
			return l, err
		}
	}
	l.ID = before.ID
	if l.Status != before.Status && !before.Status.CanBecome(l.Status) {
		return l, environment.LeaseStateChanged(before.Status, l.Status)
	}
	return l, nil
}

type changedRow struct {
	environment.Lease
	Lazy *string `db:"lazy"`
}

// changeText is a statement that stores a lease over that version of its row, with
// its entry of the log, and returns the new row; none when the row has changed.
func changeText(l environment.Lease, version string, a *environment.Activity) (string, []any) {
	args := append(leaseArgs(l), version, l.Borrowed() && l.Status == environment.LeaseActive)
	if a == nil || a.Action == "" {
		return changeLease, args
	}
	return changeLeaseLogged, append(args, activityArgs(*a)...)
}

// HandOver implements leasing.Store.
func (db *DB) HandOver(ctx context.Context, from, to uuid.UUID, change func(*environment.Lease) error, a *environment.Activity) (environment.Lease, error) {
	var made changedRow
	err := db.tx(ctx, "hand over a sandbox", func(tx *sqlx.Tx) error {
		kept, taker, err := bothLeases(ctx, tx, from, to)
		if err != nil {
			return err
		}
		if kept.Status != environment.LeaseRetained {
			return environment.LeaseStateChanged(kept.Status, environment.LeaseReleased)
		}
		if taker.Status != environment.LeaseAcquiring {
			return environment.LeaseStateChanged(taker.Status, environment.LeaseActive)
		}
		l, err := changed(taker.Lease, change)
		if err != nil {
			return err
		}
		if l.Status != environment.LeaseActive {
			return environment.LeaseStateChanged(taker.Status, l.Status)
		}
		if _, err := exec(ctx, tx, `
			update environment_leases set status = 'released', released_at = now(), cleanup_status = null, updated_at = now()
			where id = $1`, from); err != nil {
			return err
		}
		text, args := changeText(l, taker.Version, a)
		return tx.GetContext(ctx, &made, text, args...)
	})
	return leaseInUTC(made.Lease), err
}

// bothLeases reads two leases and locks their rows, always in one order.
func bothLeases(ctx context.Context, tx *sqlx.Tx, from, to uuid.UUID) (kept, taker versioned, err error) {
	var rows []versioned
	err = tx.SelectContext(ctx, &rows, `
		select `+leaseColumns+`, xmin::text as version from environment_leases where id in ($1, $2) order by id for no key update`, from, to)
	if err != nil {
		return kept, taker, err
	}
	for _, r := range rows {
		if r.ID == from {
			kept = r
		}
		if r.ID == to {
			taker = r
		}
	}
	if kept.ID == uuid.Nil || taker.ID == uuid.Nil {
		return kept, taker, environment.NotFound("lease")
	}
	return kept, taker, nil
}

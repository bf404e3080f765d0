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
	l = storable(l)
	lazy := l.Borrowed() && l.Status == environment.LeaseAcquiring
	args := append(leaseArgs(l), orNow(l.CreatedAt), orNow(l.UpdatedAt), lazy)
	var made []leaseAnswer
	err := db.alone(ctx, "create a lease", func(ctx context.Context) error {
		return afresh(func() error {
			made = nil
			return db.selectOften(ctx, &made, createLease, args...)
		})
	})
	if err == nil && len(made) > 0 {
		db.written.keep(made[0].of(l), lazy)
	}
	if err != nil || len(made) > 0 || l.EnvironmentID == nil {
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
// when the row has changed meanwhile, change sees the new one. Nor does it read a row
// that this server wrote last: whether it still is so is seen when it is written.
func (db *DB) UpdateLease(ctx context.Context, id uuid.UUID, change func(*environment.Lease) error, a *environment.Activity) (environment.Lease, error) {
	row, guessed := db.written.take(id)
	for {
		if !guessed {
			var err error
			if row, err = db.versionedLease(ctx, id); err != nil {
				return environment.Lease{}, err
			}
		}
		l, err := changed(row.Lease, change)
		if err == nil {
			var after *versioned
			if after, err = db.store(ctx, row, l, a); after != nil || err != nil {
				return kept(after), err
			}
		}
		if err != nil && !guessed { // a guess refuses nothing
			return environment.Lease{}, err
		}
		guessed = false
	}
}

// kept is the lease that was stored, if one was.
func kept(row *versioned) environment.Lease {
	if row == nil {
		return environment.Lease{}
	}
	return row.Lease
}

func (db *DB) versionedLease(ctx context.Context, id uuid.UUID) (versioned, error) {
	var rows []versioned
	err := db.read(ctx, "read a lease", func(ctx context.Context) error {
		rows = nil
		return db.selectOften(ctx, &rows, readLease, id)
	})
	if err != nil {
		return versioned{}, err
	}
	if len(rows) == 0 {
		return versioned{}, environment.NotFound("lease")
	}
	return rows[0], nil
}

// store writes a lease over a version of its row; nil when that has changed.
func (db *DB) store(ctx context.Context, before versioned, l environment.Lease, a *environment.Activity) (*versioned, error) {
	l = storable(l)
	text, args := changeText(before, l, a)
	var made []leaseAnswer
	err := db.alone(ctx, "change a lease", func(ctx context.Context) error {
		made = nil
		return db.selectOften(ctx, &made, text, args...)
	})
	if err != nil || len(made) == 0 {
		return nil, err
	}
	after := made[0].of(l)
	db.written.keep(after, goesLazily(l))
	return &after, nil
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

// HandOver implements leasing.Store.
func (db *DB) HandOver(ctx context.Context, from, to uuid.UUID, change func(*environment.Lease) error, a *environment.Activity) (environment.Lease, error) {
	var made versioned
	db.written.take(from)
	db.written.take(to)
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
		l = storable(l)
		text, args := changeText(taker, l, a)
		var answer leaseAnswer
		if err := tx.GetContext(ctx, &answer, text, args...); err != nil {
			return err
		}
		made = answer.of(l)
		return nil
	})
	return made.Lease, err
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

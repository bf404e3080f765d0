package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// attempts is how often a transaction is tried that lost to another one.
const attempts = 4

// tx does fn in one transaction and commits, unless fn returns an error. fn is
// called again when the transaction lost a race that PostgreSQL resolved by
// ending it. what names the work in errors.
func (db *DB) tx(ctx context.Context, what string, fn func(*sqlx.Tx) error) error {
	for n := 1; ; n++ {
		err := db.once(ctx, fn)
		if err == nil {
			return nil
		}
		if n == attempts || !lostRace(err) {
			return translate(ctx, what, err)
		}
	}
}

// alone does fn, which is one statement without a transaction around it, and does
// it again when it lost a race that PostgreSQL resolved by ending it.
func (db *DB) alone(ctx context.Context, what string, fn func(context.Context) error) error {
	for n := 1; ; n++ {
		limited, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
		err := fn(limited)
		cancel()
		if err == nil {
			return nil
		}
		if n == attempts || !lostRace(err) {
			return translate(ctx, what, err)
		}
	}
}

func (db *DB) once(ctx context.Context, fn func(*sqlx.Tx) error) error {
	limited, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	var tx *sqlx.Tx
	err := afresh(func() (err error) {
		tx, err = db.pool.BeginTxx(limited, nil)
		return err
	})
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		if rerr := tx.Rollback(); rerr != nil && !errors.Is(rerr, sql.ErrTxDone) && !away(rerr) {
			db.log.Warn("roll back", "err", rerr)
		}
		return err
	}
	return tx.Commit()
}

// get reads one row without a transaction; sql.ErrNoRows stays as it is.
func (db *DB) get(ctx context.Context, what string, dest any, query string, args ...any) error {
	return db.read(ctx, what, func(ctx context.Context) error { return db.pool.GetContext(ctx, dest, query, args...) })
}

// list reads rows without a transaction.
func (db *DB) list(ctx context.Context, what string, dest any, query string, args ...any) error {
	return db.read(ctx, what, func(ctx context.Context) error { return db.pool.SelectContext(ctx, dest, query, args...) })
}

func (db *DB) read(ctx context.Context, what string, fn func(context.Context) error) error {
	limited, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	err := afresh(func() error { return fn(limited) })
	if errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return translate(ctx, what, err)
}

// afresh does what may be done twice, and does it again while the connection
// that the pool gave turns out to have been lost: after a restart of the
// database every idle one has.
func afresh(do func() error) error {
	for n := 0; ; n++ {
		err := do()
		if err == nil || n == maxConnections || !lostConnection(err) {
			return err
		}
	}
}

// row is a stored shape that becomes a domain value.
type row[T any] interface{ domain() (T, error) }

// domains turns rows into domain values; never nil.
func domains[T any, R row[T]](rows []R) ([]T, error) {
	all := make([]T, 0, len(rows))
	for _, r := range rows {
		v, err := r.domain()
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// missing turns "no rows" into the refusal of a thing that does not exist.
func missing(err error, what string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return environment.NotFound(what)
	}
	return err
}

// exec does one statement within a transaction.
func exec(ctx context.Context, tx *sqlx.Tx, query string, args ...any) (int64, error) {
	res, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// lazily is an expression that, where its condition holds, lets the transaction
// commit without waiting for the disk. It is for mere progress of work: what a
// run or a probe is at, a lease of a host that nothing was made on. Such a commit
// survives a kill of Berth, which has told it to the database, and is on the disk
// as soon as any later durable one is. Only a crash of the database itself can
// take it back, and with it all lazy ones behind it: then the row is where the
// last durable commit left it, and the work goes on from there, which finds on the
// target what was begun. Beginnings, output, requests to end, how work ended and
// receipts are never committed lazily.
func lazily(condition string) string {
	return `case when ` + condition + `::boolean then set_config('synchronous_commit', 'off', true) end`
}

// wake tells the readers of subjects to read again once tx has committed.
func wake(ctx context.Context, tx *sqlx.Tx, subjects ...uuid.UUID) error {
	for _, s := range subjects {
		if _, err := tx.ExecContext(ctx, `select pg_notify($1, $2)`, channel, s.String()); err != nil {
			return fmt.Errorf("wake the readers of %s: %w", s, err)
		}
	}
	return nil
}

// bump says that what the list of environments shows has changed. It comes last
// in a transaction: the row is the one that every such write shares.
func bump(ctx context.Context, tx *sqlx.Tx) error {
	_, err := tx.ExecContext(ctx, `
		with bumped as (update instance set catalogue_revision = catalogue_revision + 1 returning 1)
		select pg_notify($1, $2) from bumped`, channel, environment.CatalogueSubject.String())
	return err
}

// orNow is at, or nil (which the statements read as now()) when it is zero.
func orNow(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

package store

import (
	"context"
	"strconv"
	"time"

	"berth/environment"
	"berth/environment/fleet"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// RegisterServer implements fleet.Store.
func (db *DB) RegisterServer(ctx context.Context, id, node uuid.UUID, version string) error {
	return db.tx(ctx, "register this server", func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `
			update servers set retired_at = now() where node = $1 and id <> $2 and retired_at is null`, node, id)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			insert into servers (id, node, version) values ($1, $2, $3)
			on conflict (id) do update set node = excluded.node, version = excluded.version, beat_at = now(), retired_at = null`,
			id, node, version)
		return err
	})
}

// BeatServer implements fleet.Store; KindConflict with code server_retired when
// this server was declared dead.
func (db *DB) BeatServer(ctx context.Context, id uuid.UUID) error {
	return db.tx(ctx, "beat", func(tx *sqlx.Tx) error {
		n, err := exec(ctx, tx, `update servers set beat_at = now() where id = $1 and retired_at is null`, id)
		if err == nil && n == 0 {
			return environment.Conflict("server_retired", "This server was declared dead: another one runs on its data folder.")
		}
		return err
	})
}

// RetireServer implements fleet.Store.
func (db *DB) RetireServer(ctx context.Context, id uuid.UUID) error {
	return db.tx(ctx, "retire this server", func(tx *sqlx.Tx) error {
		_, err := exec(ctx, tx, `update servers set retired_at = coalesce(retired_at, now()) where id = $1`, id)
		return err
	})
}

// alive is a condition: the server that the column owner names looks after what
// it owns. A server that could not beat because the database was away gets as
// long again from the database's start.
func alive(owner string) string {
	limit := "interval '" + strconv.Itoa(int(fleet.DeadAfter/time.Second)) + " seconds'"
	return ` exists (select 1 from servers s where s.id = ` + owner + ` and s.retired_at is null
		and greatest(s.beat_at, pg_postmaster_start_time()) > now() - ` + limit + `)`
}

// retired is a condition: the server that the column owner names has ended, for
// sure. One that is only silent may still be at work.
func retired(owner string) string {
	return ` exists (select 1 from servers s where s.id = ` + owner + ` and s.retired_at is not null)`
}

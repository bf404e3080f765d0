package store

import (
	"context"
	"time"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// CreateSession implements identity.Store.
func (db *DB) CreateSession(ctx context.Context, s environment.Session, expires time.Time, a environment.Activity) error {
	return db.tx(ctx, "create a session", func(tx *sqlx.Tx) error {
		_, err := exec(ctx, tx, `
			insert into person_sessions (id, person_id, created_at, last_seen_at, expires_at, address, user_agent)
			values ($1, $2, coalesce($3, now()), coalesce($4, now()), $5, $6, $7)`,
			s.ID, s.PersonID, orNow(s.CreatedAt), orNow(s.LastSeenAt), expires, clean(s.Address), clean(s.UserAgent))
		if err != nil {
			return err
		}
		if _, err := exec(ctx, tx, `update people set last_seen_at = now() where id = $1`, s.PersonID); err != nil {
			return err
		}
		return record(ctx, tx, a)
	})
}

// Sessions implements identity.Store: those that count, the last seen first.
func (db *DB) Sessions(ctx context.Context, person uuid.UUID) ([]environment.Session, error) {
	all := []environment.Session{}
	err := db.list(ctx, "list sessions", &all, `
		select id, person_id, created_at, last_seen_at, address, user_agent from person_sessions
		where person_id = $1 and expires_at > now() order by last_seen_at desc, id desc`, person)
	for i := range all {
		all[i].CreatedAt, all[i].LastSeenAt = all[i].CreatedAt.UTC(), all[i].LastSeenAt.UTC()
	}
	return all, err
}

// EndSessions implements identity.Store. Without any to end it records nothing.
func (db *DB) EndSessions(ctx context.Context, person uuid.UUID, ids []uuid.UUID, a environment.Activity) (int, error) {
	var ended int
	err := db.tx(ctx, "end sessions", func(tx *sqlx.Tx) error {
		var err error
		if len(ids) == 0 {
			ended, err = endSessions(ctx, tx, `person_id = $2`, person)
		} else {
			ended, err = endSessions(ctx, tx, `person_id = $2 and id = any($3::uuid[])`, person, idArray(ids))
		}
		if err != nil || ended == 0 {
			return err
		}
		return record(ctx, tx, a)
	})
	return ended, err
}

// endSessions ends the sessions that meet a condition, whose arguments count from
// $2, and wakes each one's subject. It returns how many those were.
func endSessions(ctx context.Context, tx *sqlx.Tx, condition string, args ...any) (int, error) {
	n, err := exec(ctx, tx, `
		with ended as (delete from person_sessions where `+condition+` returning id)
		select pg_notify($1, id::text) from ended`, append([]any{channel}, args...)...)
	return int(n), err
}

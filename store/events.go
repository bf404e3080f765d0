package store

import (
	"context"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// maxEventBytes is about how much output one read of events returns: the events
// behind it wait for the next read.
const maxEventBytes = 2 << 20

type eventRow struct {
	Seq          int64                 `db:"seq"`
	Subject      uuid.UUID             `db:"subject"`
	Kind         environment.EventKind `db:"kind"`
	Payload      stored                `db:"payload"`
	Stream       *environment.Stream   `db:"stream"`
	LogOffset    *int64                `db:"log_offset"`
	StreamOffset *int64                `db:"stream_offset"`
	Chunk        []byte                `db:"chunk"`
}

func (r eventRow) domain() (environment.Event, error) {
	e := environment.Event{Seq: r.Seq, Subject: r.Subject, Kind: r.Kind}
	if r.Kind != environment.EventOutput {
		e.Payload = r.Payload.raw()
		return e, nil
	}
	e.Chunk = &environment.LogChunk{Seq: r.Seq, Data: r.Chunk}
	if r.Stream != nil && r.LogOffset != nil && r.StreamOffset != nil {
		e.Chunk.Stream, e.Chunk.Offset, e.Chunk.StreamOffset = *r.Stream, *r.LogOffset, *r.StreamOffset
	}
	return e, nil
}

// Events implements probing.Store and running.Store: those after a sequence
// number, in order. A page may be shorter than limit while there is more; only
// an empty one is the end.
func (db *DB) Events(ctx context.Context, subject uuid.UUID, after int64, limit int) ([]environment.Event, error) {
	var rows []eventRow
	err := db.list(ctx, "read events", &rows, `
		select seq, subject, kind, payload, stream, log_offset, stream_offset, chunk from (
			select seq, subject, kind, payload, stream, log_offset, stream_offset, chunk,
				sum(coalesce(length(chunk), 0)) over (order by seq) - coalesce(length(chunk), 0) as before
			from (
				select seq, subject, kind, payload, stream, log_offset, stream_offset, chunk from events
				where subject = $1 and seq > $2 order by seq limit $3) page
		) sized where before < $4 order by seq`, subject, after, pageSize(limit), maxEventBytes)
	if err != nil {
		return nil, err
	}
	return domains[environment.Event](rows)
}

// emit appends an event and wakes its subject. The caller holds the subject's
// row, so that events become visible in the order of their numbers.
func emit(ctx context.Context, tx *sqlx.Tx, subject uuid.UUID, kind environment.EventKind, payload any) error {
	return emitted(ctx, tx, subject, kind, payload, false)
}

// emitLazily is emit for mere progress: see lazily.
func emitLazily(ctx context.Context, tx *sqlx.Tx, subject uuid.UUID, kind environment.EventKind, payload any) error {
	return emitted(ctx, tx, subject, kind, payload, true)
}

func emitted(ctx context.Context, tx *sqlx.Tx, subject uuid.UUID, kind environment.EventKind, payload any, progress bool) error {
	_, err := tx.ExecContext(ctx, `
		with added as (insert into events (subject, kind, payload) values ($1::uuid, $2, $3) returning subject)
		select pg_notify($4, subject::text), `+lazily("$5")+` from added`, subject.String(), string(kind), document{payload}, channel, progress)
	return err
}

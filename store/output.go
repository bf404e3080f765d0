package store

import (
	"context"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// maxPiece is the most output that one row holds, so that a read of a few bytes
// does not fetch many.
const maxPiece = 256 << 10

// maxRowsRead bounds a read of a log that came in very small pieces.
const maxRowsRead = 20000

// logState is what a run's row says of its log.
type logState struct {
	Owner  uuid.UUID `db:"owner"`
	Size   int64     `db:"log_size"`
	Cut    int64     `db:"log_cut"`
	Stdout int64     `db:"stdout_size"`
	Stderr int64     `db:"stderr_size"`
}

// received is where the bytes of a stream are counted.
func (l *logState) received(s environment.Stream) *int64 {
	if s == environment.Stderr {
		return &l.Stderr
	}
	return &l.Stdout
}

const logQuery = `select owner, log_size, log_cut, stdout_size, stderr_size from runs where id = $1`

// AppendOutput implements running.Store.
func (db *DB) AppendOutput(ctx context.Context, id, owner uuid.UUID, chunks []environment.LogChunk) error {
	if len(chunks) == 0 {
		return nil
	}
	return db.tx(ctx, "append output", func(tx *sqlx.Tx) error {
		var log logState
		if err := tx.GetContext(ctx, &log, logQuery+` for no key update`, id); err != nil {
			return missing(err, "run")
		}
		if owner != uuid.Nil && log.Owner != owner {
			return takenOver()
		}
		var pieces []environment.LogChunk
		for _, c := range chunks {
			pieces = append(pieces, log.take(c)...)
		}
		if len(pieces) == 0 {
			return nil
		}
		last := len(pieces) - 1
		for _, piece := range pieces[:last] {
			if _, err := exec(ctx, tx, insertOutput, outputValues(id, piece)...); err != nil {
				return err
			}
		}
		if err := grow(ctx, tx, id, &log, pieces[last]); err != nil {
			return err
		}
		return cutLog(ctx, tx, id, log)
	})
}

const insertOutput = `
	insert into events (subject, kind, stream, log_offset, stream_offset, chunk) values ($1, 'output', $2, $3, $4, $5)`

func outputValues(id uuid.UUID, piece environment.LogChunk) []any {
	return []any{id, string(piece.Stream), piece.Offset, piece.StreamOffset, piece.Data}
}

// grow stores the last piece with the new size of the log, in one statement: it
// is all that most writes need.
func grow(ctx context.Context, tx *sqlx.Tx, id uuid.UUID, log *logState, last environment.LogChunk) error {
	from, to := environment.CutOf(log.Size)
	log.Cut = to - from
	_, err := exec(ctx, tx, `
		with added as (`+insertOutput+`),
		grown as (
			update runs set log_size = $6, log_cut = $7, stdout_size = $8, stderr_size = $9 where id = $1 returning id)
		select pg_notify($10, id::text) from grown`,
		append(outputValues(id, last), log.Size, log.Cut, log.Stdout, log.Stderr, channel)...)
	return err
}

// take counts a chunk and returns what of it is new, in pieces of which none
// lies on both sides of the log's head.
func (log *logState) take(c environment.LogChunk) []environment.LogChunk {
	var pieces []environment.LogChunk
	received := log.received(c.Stream)
	c = c.Beyond(*received)
	c.Offset = log.Size
	*received = max(*received, c.StreamOffset+int64(len(c.Data)))
	log.Size = c.End()
	for len(c.Data) > 0 {
		end := c.Offset + maxPiece
		if c.Offset < environment.LogHead {
			end = min(end, environment.LogHead)
		}
		pieces = append(pieces, c.Until(end))
		c = c.From(end)
	}
	return pieces
}

// cutLog drops what is no longer kept of a long log: whole rows, and the front
// of the one in which the kept tail begins.
func cutLog(ctx context.Context, tx *sqlx.Tx, id uuid.UUID, log logState) error {
	if log.Cut == 0 {
		return nil
	}
	from, to := environment.CutOf(log.Size)
	_, err := exec(ctx, tx, `
		delete from events
		where subject = $1 and kind = 'output' and log_offset >= $2 and log_offset + length(chunk) <= $3`, id, from, to)
	if err != nil {
		return err
	}
	_, err = exec(ctx, tx, `
		update events set chunk = substring(chunk from ($3 - log_offset + 1)::integer),
			stream_offset = stream_offset + $3 - log_offset, log_offset = $3
		where subject = $1 and kind = 'output' and log_offset >= $2 and log_offset < $3`, id, from, to)
	return err
}

// Received implements running.Store.
func (db *DB) Received(ctx context.Context, id uuid.UUID) (map[environment.Stream]int64, error) {
	var log logState
	if err := db.get(ctx, "read how much output arrived", &log, logQuery, id); err != nil {
		return nil, missing(err, "run")
	}
	return map[environment.Stream]int64{environment.Stdout: log.Stdout, environment.Stderr: log.Stderr}, nil
}

// Log implements running.Store. Run and output are read at one moment, so that
// a page that reaches the end says so rightly.
func (db *DB) Log(ctx context.Context, id uuid.UUID, offset int64, limit int) (environment.LogPage, error) {
	offset, limit = max(offset, 0), environment.LogReadLimit(limit)
	var page environment.LogPage
	err := db.tx(ctx, "read a log", func(tx *sqlx.Tx) error {
		if _, err := exec(ctx, tx, `set transaction isolation level repeatable read read only`); err != nil {
			return err
		}
		var r struct {
			Size   int64                 `db:"log_size"`
			Cut    int64                 `db:"log_cut"`
			Status environment.RunStatus `db:"status"`
		}
		if err := tx.GetContext(ctx, &r, `select log_size, log_cut, status from runs where id = $1`, id); err != nil {
			return missing(err, "run")
		}
		start := offset
		if from, to := environment.CutOf(r.Size); offset >= from {
			start = max(offset, to)
		}
		chunks, err := chunksAt(ctx, tx, id, start, limit)
		page = environment.PageOf(environment.Run{LogSize: r.Size, LogCut: r.Cut, Status: r.Status}, offset, limit, chunks)
		return err
	})
	return page, err
}

// chunksAt reads the rows that hold the bytes [start, start+limit) of a log,
// beginning with the one that start lies in.
func chunksAt(ctx context.Context, tx *sqlx.Tx, id uuid.UUID, start int64, limit int) ([]environment.LogChunk, error) {
	var rows []eventRow
	err := tx.SelectContext(ctx, &rows, `
		select seq, subject, kind, stream, log_offset, stream_offset, chunk from events
		where subject = $1 and kind = 'output' and log_offset < $2 and log_offset >= coalesce((
			select log_offset from events where subject = $1 and kind = 'output' and log_offset <= $3
			order by log_offset desc limit 1), 0)
		order by log_offset limit $4`, id, start+int64(limit), start, maxRowsRead)
	if err != nil {
		return nil, err
	}
	chunks := make([]environment.LogChunk, 0, len(rows))
	for _, r := range rows {
		e, err := r.domain()
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, *e.Chunk)
	}
	return chunks, nil
}

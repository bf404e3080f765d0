package store

import (
	"context"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// sealedTables are where sealed values lie, in the order in which they are walked.
func sealedTables() []sealedTable {
	return []sealedTable{{"versions", "secret_versions", "ciphertext"}, {"runs", "runs", "input"}}
}

type sealedTable struct{ name, table, column string }

// Reseal implements secrets.Store. A place is a table's name and the last id.
func (db *DB) Reseal(ctx context.Context, after string, limit int, again func(uuid.UUID, []byte) ([]byte, error)) (string, int, error) {
	tables := sealedTables()
	at, last := 0, uuid.Nil
	if name, id, ok := strings.Cut(after, ":"); ok {
		for i, t := range tables {
			if t.name == name {
				at = i
			}
		}
		var err error
		if last, err = uuid.Parse(id); err != nil {
			return "", 0, environment.NewError(environment.KindUnreadable, "invalid_cursor", "That is no place to go on from.").Because(err)
		}
	}
	var written, seen int
	err := db.tx(ctx, "seal again", func(tx *sqlx.Tx) (err error) {
		written, seen = 0, 0
		last, written, seen, err = resealSome(ctx, tx, tables[at], last, limit, again)
		return err
	})
	switch {
	case err != nil:
		return "", 0, err
	case seen == limit:
		return tables[at].name + ":" + last.String(), written, nil
	case at+1 < len(tables):
		return tables[at+1].name + ":" + uuid.Nil.String(), written, nil
	}
	return "", written, nil
}

// resealSome offers the values of one table after an id.
func resealSome(ctx context.Context, tx *sqlx.Tx, t sealedTable, after uuid.UUID, limit int, again func(uuid.UUID, []byte) ([]byte, error)) (last uuid.UUID, written, seen int, err error) {
	var rows []struct {
		ID     uuid.UUID `db:"id"`
		Sealed []byte    `db:"sealed"`
	}
	err = tx.SelectContext(ctx, &rows, `select id, `+t.column+` as sealed from `+t.table+`
		where id > $1 and `+t.column+` is not null order by id limit $2 for no key update`, after, limit)
	if err != nil {
		return after, 0, 0, err
	}
	last = after
	for _, row := range rows {
		last = row.ID
		next, err := again(row.ID, row.Sealed)
		if err != nil {
			return after, 0, 0, err
		}
		if next == nil {
			continue
		}
		if _, err := exec(ctx, tx, `update `+t.table+` set `+t.column+` = $2 where id = $1`, row.ID, next); err != nil {
			return after, 0, 0, err
		}
		written++
	}
	return last, written, len(rows), nil
}

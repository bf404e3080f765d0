package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

// query builds a SELECT whose conditions are not known before.
type query struct {
	text strings.Builder
	args []any
	and  bool
}

// page reads the rows of q, which go on after a cursor unless that is nil. Keys
// that the order cannot have are only found to be such by PostgreSQL.
func (db *DB) page(ctx context.Context, what string, dest any, q *query, after *cursor) error {
	err := db.list(ctx, what, dest, q.text.String(), q.args...)
	if after != nil && isData(err) {
		return badCursor().Because(err)
	}
	return err
}

// idArray is ids as an argument for a uuid[]; never null.
func idArray(ids []uuid.UUID) any {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return pq.Array(texts)
}

// arg adds an argument and returns its placeholder.
func (q *query) arg(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

// add appends text.
func (q *query) add(text ...string) {
	for _, t := range text {
		q.text.WriteString(t)
	}
}

// where adds a condition.
func (q *query) where(text ...string) {
	word := " where "
	if q.and {
		word = " and "
	}
	q.and = true
	q.add(slices.Concat([]string{word}, text)...)
}

// prefixed lists columns of a table under the names that a nested row scans:
// alias.c as "alias.c".
func prefixed(alias, columns string) string {
	names := strings.Split(columns, ",")
	for i, name := range names {
		name = strings.TrimSpace(name)
		names[i] = alias + "." + name + ` as "` + alias + "." + name + `"`
	}
	return strings.Join(names, ", ")
}

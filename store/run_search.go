package store

import (
	"context"

	"berth/environment/running"

	"github.com/google/uuid"
)

// searchedRuns is how many runs one page of a search looks through. What is
// searched for may be anywhere in a text, which no index helps with; a page that
// found little goes on, by its cursor, where this one ended.
const searchedRuns = 20_000

// whereRuns narrows to the runs of a filter behind a cursor, whatever is searched for.
func (q *query) whereRuns(f running.Filter, after *cursor) {
	q.whereWork(f.CompanyID, f.Companies, f.EnvironmentID, string(f.Status))
	if f.AgentID != nil {
		q.where("agent_id = ", q.arg(*f.AgentID))
	}
	if after != nil {
		q.where("(created_at, id) < (", q.arg(after.Keys[0]), "::timestamptz, ", q.arg(after.ID), ")")
	}
}

// searchRuns selects those of the next searchedRuns that have text in them.
func (q *query) searchRuns(f running.Filter, after *cursor, text string, limit int) {
	q.add(`select `, runColumns, `, created_at::text as key from runs where id in (
		select id from (select id, search from runs`)
	q.whereRuns(f, after)
	q.add(` order by created_at desc, id desc limit `, q.arg(searchedRuns), `) looked_at where strpos(search, `, q.arg(text), `) > 0)
		order by created_at desc, id desc limit `, q.arg(limit))
}

// searchedUpTo is the cursor behind the last run that a search looked at; "" when
// that was the last of all.
func (db *DB) searchedUpTo(ctx context.Context, f running.Filter, after *cursor) (string, error) {
	var q query
	q.add(`select created_at::text as key, id from runs`)
	q.whereRuns(f, after)
	q.add(` order by created_at desc, id desc limit 2 offset `, q.arg(searchedRuns-1))
	var rows []struct {
		Key string    `db:"key"`
		ID  uuid.UUID `db:"id"`
	}
	if err := db.page(ctx, "find the end of a search", &rows, &q, after); err != nil || len(rows) < 2 {
		return "", err
	}
	return cursor{Order: "runs", Keys: []string{rows[0].Key}, ID: rows[0].ID}.String(), nil
}

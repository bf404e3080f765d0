package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

type activityRow struct {
	ID         uuid.UUID  `db:"id"`
	CompanyID  *uuid.UUID `db:"company_id"`
	ActorKind  string     `db:"actor_kind"`
	ActorID    *uuid.UUID `db:"actor_id"`
	ActorName  string     `db:"actor_name"`
	Action     string     `db:"action"`
	EntityType string     `db:"entity_type"`
	EntityID   string     `db:"entity_id"`
	Details    stored     `db:"details"`
	RequestID  string     `db:"request_id"`
	CreatedAt  time.Time  `db:"created_at"`
	Key        string     `db:"key"`
}

func (r activityRow) domain() (environment.Activity, error) {
	a := environment.Activity{ID: r.ID, CompanyID: r.CompanyID, ActorKind: environment.ActorKind(r.ActorKind), ActorID: r.ActorID,
		ActorName: r.ActorName, Action: r.Action, EntityType: r.EntityType, EntityID: r.EntityID, Details: map[string]any{}, RequestID: r.RequestID,
		CreatedAt: r.CreatedAt.UTC()}
	return a, r.Details.into(&a.Details)
}

// Activity implements catalogue.Store.
func (db *DB) Activity(ctx context.Context, f environment.ActivityFilter) (environment.Page[environment.Activity], error) {
	none := environment.Page[environment.Activity]{}
	after, err := readCursor(f.Cursor, "activity", 1)
	if err != nil {
		return none, err
	}
	var q query
	q.add(`select id, company_id, actor_kind, actor_id, actor_name, action, entity_type, entity_id, details, request_id, created_at,
		created_at::text as key from activity`)
	q.whereActivity(f)
	if after != nil {
		q.where("(created_at, id) < (", q.arg(after.Keys[0]), "::timestamptz, ", q.arg(after.ID), ")")
	}
	size := pageSize(f.Limit)
	q.add(" order by created_at desc, id desc limit ", q.arg(size+1))
	var rows []activityRow
	if err := db.page(ctx, "list activity", &rows, &q, after); err != nil {
		return none, err
	}
	page := none
	if len(rows) > size {
		rows = rows[:size]
		page.Next = cursor{Order: "activity", Keys: []string{rows[size-1].Key}, ID: rows[size-1].ID}.String()
	}
	page.Items, err = domains[environment.Activity](rows)
	return page, err
}

// whereActivity narrows the log.
func (q *query) whereActivity(f environment.ActivityFilter) {
	if f.EntityType != "" {
		q.where("entity_type = ", q.arg(clean(f.EntityType)))
	}
	if f.EntityID != "" {
		q.where("entity_id = ", q.arg(clean(f.EntityID)))
	}
	if f.CompanyID != nil {
		q.where("company_id = ", q.arg(*f.CompanyID))
	}
	switch action := clean(f.Action); {
	case environment.ActionPrefix(action):
		q.where("starts_with(action, ", q.arg(action), ")")
	case action != "":
		q.where("action = ", q.arg(action))
	}
	if actor := strings.ToLower(clean(f.Actor)); actor != "" {
		q.where("strpos(actor_key, ", q.arg(actor), ") > 0")
	}
	if f.Since != nil {
		q.where("created_at >= ", q.arg(*f.Since))
	}
	if f.Until != nil {
		q.where("created_at < ", q.arg(*f.Until))
	}
}

// record writes activity in tx; one without an action is none.
func record(ctx context.Context, tx *sqlx.Tx, a environment.Activity) error {
	if a.Action == "" {
		return nil
	}
	_, err := tx.ExecContext(ctx, insertActivity(1), activityArgs(a)...)
	return err
}

// insertActivity is a statement that writes an entry out of activityArgs, which are
// $n and so on; it may go on with a from.
func insertActivity(n int) string {
	at := func(i int) string { return "$" + strconv.Itoa(n+i) }
	return `insert into activity (id, company_id, actor_kind, actor_name, action, entity_type, entity_id, details, request_id, created_at,
			actor_id, actor_key)
		select ` + at(0) + `::uuid, ` + at(1) + `::uuid, ` + at(2) + `, ` + at(3) + `, ` + at(4) + `, ` + at(5) + `, ` + at(6) + `, ` + at(7) + `::jsonb, ` +
		at(8) + `, coalesce(` + at(9) + `::timestamptz, now()), ` + at(10) + `::uuid, ` + at(11)
}

func activityArgs(a environment.Activity) []any {
	if a.ID == uuid.Nil {
		a.ID = environment.NewID()
	}
	if a.Details == nil {
		a.Details = map[string]any{}
	}
	return []any{a.ID, a.CompanyID, string(a.ActorKind), clean(a.ActorName), a.Action, a.EntityType, clean(a.EntityID), document{a.Details},
		clean(a.RequestID), orNow(a.CreatedAt), a.ActorID, strings.ToLower(clean(a.ActorName))}
}

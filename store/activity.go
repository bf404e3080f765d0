package store

import (
	"context"
	"time"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

type activityRow struct {
	ID         uuid.UUID  `db:"id"`
	CompanyID  *uuid.UUID `db:"company_id"`
	ActorKind  string     `db:"actor_kind"`
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
	a := environment.Activity{ID: r.ID, CompanyID: r.CompanyID, ActorKind: environment.ActorKind(r.ActorKind), ActorName: r.ActorName,
		Action: r.Action, EntityType: r.EntityType, EntityID: r.EntityID, Details: map[string]any{}, RequestID: r.RequestID,
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
	q.add(`select id, company_id, actor_kind, actor_name, action, entity_type, entity_id, details, request_id, created_at,
		created_at::text as key from activity`)
	if f.EntityType != "" {
		q.where("entity_type = ", q.arg(f.EntityType))
	}
	if f.EntityID != "" {
		q.where("entity_id = ", q.arg(clean(f.EntityID)))
	}
	if f.CompanyID != nil {
		q.where("company_id = ", q.arg(*f.CompanyID))
	}
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

// record writes activity in tx; one without an action is none.
func record(ctx context.Context, tx *sqlx.Tx, a environment.Activity) error {
	if a.Action == "" {
		return nil
	}
	if a.ID == uuid.Nil {
		a.ID = environment.NewID()
	}
	if a.Details == nil {
		a.Details = map[string]any{}
	}
	_, err := tx.ExecContext(ctx, `
		insert into activity (id, company_id, actor_kind, actor_name, action, entity_type, entity_id, details, request_id, created_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce($10, now()))`,
		a.ID, a.CompanyID, string(a.ActorKind), clean(a.ActorName), a.Action, a.EntityType, clean(a.EntityID), document{a.Details},
		clean(a.RequestID), orNow(a.CreatedAt))
	return err
}

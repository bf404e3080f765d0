package store

import (
	"context"
	"strings"

	"berth/environment"
)

// listOrder is an order of the list of environments: up to two columns, then
// the id, all in one direction, so that a row comparison finds the next page.
type listOrder struct {
	key1, type1 string
	key2        string // text; "" for none
	desc        bool
}

func orderOf(sort string) (string, listOrder) {
	switch sort {
	case "name":
		return sort, listOrder{key1: "e.name_key", type1: `text collate "C"`}
	case "health":
		return sort, listOrder{key1: "e.health_rank", type1: "smallint", key2: "e.name_key"}
	case "driver":
		return sort, listOrder{key1: "e.driver", type1: `text collate "C"`, key2: "e.name_key"}
	case "tested":
		return sort, listOrder{key1: "e.tested_at", type1: "timestamptz", desc: true}
	}
	return "updated", listOrder{key1: "e.updated_at", type1: "timestamptz", desc: true}
}

func (o listOrder) keys() int {
	if o.key2 == "" {
		return 1
	}
	return 2
}

// ListEnvironments implements catalogue.Store.
func (db *DB) ListEnvironments(ctx context.Context, f environment.ListFilter) (environment.Page[environment.EnvironmentView], error) {
	page := environment.Page[environment.EnvironmentView]{}
	name, order := orderOf(f.Sort)
	after, err := readCursor(f.Cursor, name, order.keys())
	if err != nil {
		return page, err
	}
	size := pageSize(f.Limit)
	q := listQuery(f, order, after, size+1)
	var rows []viewRow
	if err := db.page(ctx, "list environments", &rows, q, after); err != nil {
		return page, err
	}
	if len(rows) > size {
		rows = rows[:size]
		last := rows[size-1]
		keys := []string{last.Key1.String, last.Key2.String}[:order.keys()]
		page.Next = cursor{Order: name, Keys: keys, ID: last.E.ID}.String()
	}
	page.Items, err = domains[environment.EnvironmentView](rows)
	return page, err
}

func listQuery(f environment.ListFilter, order listOrder, after *cursor, limit int) *query {
	q := &query{}
	q.add(`select `, viewColumns("l.remarks"), `, `, order.key1, `::text as key1`)
	if order.key2 != "" {
		q.add(`, `, order.key2, `::text as key2`)
	}
	q.add(viewFrom)
	for _, is := range []struct{ column, value string }{
		{"e.status", string(f.Status)}, {"e.driver", f.Driver}, {"e.health", string(f.Health)},
	} {
		if is.value != "" {
			q.where(is.column, " = ", q.arg(clean(is.value)))
		}
	}
	if f.NotArchived {
		q.where("e.status <> ", q.arg(string(environment.StatusArchived)))
	}
	if text := strings.ToLower(strings.TrimSpace(clean(f.Query))); text != "" {
		within := "e.search"
		if f.NamesOnly {
			within = `lower(e.name || E'\n' || coalesce(e.description, ''))`
		}
		q.where("strpos(", within, ", ", q.arg(text), ") > 0")
	}
	q.after(order, after)
	q.orderBy(order)
	q.add(" limit ", q.arg(limit))
	return q
}

// after keeps the rows behind the cursor.
func (q *query) after(order listOrder, after *cursor) {
	if after == nil {
		return
	}
	than := " > "
	if order.desc {
		than = " < "
	}
	row, values := "("+order.key1, "("+q.arg(after.Keys[0])+"::"+order.type1
	if order.key2 != "" {
		row, values = row+", "+order.key2, values+", "+q.arg(after.Keys[1])+`::text collate "C"`
	}
	q.where(row, ", e.id)", than, values, ", ", q.arg(after.ID), "::uuid)")
}

func (q *query) orderBy(order listOrder) {
	way := ""
	if order.desc {
		way = " desc"
	}
	q.add(" order by ", order.key1, way)
	if order.key2 != "" {
		q.add(", ", order.key2, way)
	}
	q.add(", e.id", way)
}

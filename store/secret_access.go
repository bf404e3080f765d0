package store

import (
	"context"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
)

// RecordAccess implements catalogue.Store: one statement for all, which waits for
// no disk. What is of a secret that is gone is left out.
func (db *DB) RecordAccess(ctx context.Context, all ...environment.SecretAccess) error {
	if len(all) == 0 {
		return nil
	}
	var q query
	q.add(`with lazy as (select `, lazily("true"), `), noted (id, secret_id, version, environment_id, company_id, config_path, purpose,
			run_id, probe_id, actor_name, outcome, at) as (values `)
	for i, a := range all {
		if i > 0 {
			q.add(", ")
		}
		values := []string{
			q.arg(a.ID) + "::uuid", q.arg(a.SecretID) + "::uuid", q.arg(a.Version) + "::integer", q.arg(a.EnvironmentID) + "::uuid",
			q.arg(a.CompanyID) + "::uuid", q.arg(clean(a.ConfigPath)) + "::text", q.arg(string(a.Purpose)) + "::text",
			q.arg(a.RunID) + "::uuid", q.arg(a.ProbeID) + "::uuid", q.arg(clean(a.ActorName)) + "::text",
			q.arg(a.Outcome) + "::text", "coalesce(" + q.arg(orNow(a.At)) + "::timestamptz, now())",
		}
		q.add("(", strings.Join(values, ", "), ")")
	}
	q.add(`)
		insert into secret_accesses (id, secret_id, version, environment_id, company_id, config_path, purpose, run_id, probe_id,
			actor_name, outcome, at)
		select n.id, n.secret_id, n.version, n.environment_id, n.company_id, n.config_path, n.purpose, n.run_id, n.probe_id,
			n.actor_name, n.outcome, n.at
		from noted n, lazy where exists (select 1 from secrets s where s.id = n.secret_id)
		on conflict (id) do nothing`)
	return db.read(ctx, "note openings of secrets", func(ctx context.Context) error {
		_, err := db.pool.ExecContext(ctx, q.text.String(), q.args...)
		return err
	})
}

// SecretAccesses implements secrets.Store.
func (db *DB) SecretAccesses(ctx context.Context, id uuid.UUID, limit int, after string) (environment.Page[environment.SecretAccess], error) {
	page := environment.Page[environment.SecretAccess]{}
	c, err := readCursor(after, "accesses", 1)
	if err != nil {
		return page, err
	}
	var q query
	q.add(`select id, secret_id, version, environment_id, company_id, config_path, purpose, run_id, probe_id, actor_name, outcome, at,
		at::text as key from secret_accesses where secret_id = `, q.arg(id))
	if c != nil {
		q.add(" and (at, id) < (", q.arg(c.Keys[0]), "::timestamptz, ", q.arg(c.ID), ")")
	}
	size := pageSize(limit)
	q.add(" order by at desc, id desc limit ", q.arg(size+1))
	var rows []struct {
		environment.SecretAccess
		Key string `db:"key"`
	}
	if err := db.page(ctx, "list openings of a secret", &rows, &q, c); err != nil {
		return page, err
	}
	if len(rows) > size {
		rows = rows[:size]
		page.Next = cursor{Order: "accesses", Keys: []string{rows[size-1].Key}, ID: rows[size-1].ID}.String()
	}
	page.Items = make([]environment.SecretAccess, 0, len(rows))
	for _, r := range rows {
		r.At = r.At.UTC()
		page.Items = append(page.Items, r.SecretAccess)
	}
	return page, nil
}

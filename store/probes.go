package store

import (
	"context"
	"database/sql"
	"errors"

	"berth/environment"
	"berth/environment/probing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Probe implements probing.Store.
func (db *DB) Probe(ctx context.Context, id uuid.UUID) (environment.Probe, error) {
	var r probeRow
	if err := db.get(ctx, "read a probe", &r, `select `+probeColumns+`, stages from probes where id = $1`, id); err != nil {
		return environment.Probe{}, missing(err, "probe")
	}
	return r.domain()
}

// Probes implements probing.Store.
func (db *DB) Probes(ctx context.Context, f probing.Filter) (environment.Page[environment.Probe], error) {
	page := environment.Page[environment.Probe]{}
	c, err := readCursor(f.Cursor, "probes", 1)
	if err != nil {
		return page, err
	}
	var q query
	q.add(`select `, probeColumns, `, stages, created_at::text as key from probes where environment_id = `, q.arg(f.EnvironmentID), ` and not draft`)
	if f.Companies != nil {
		q.add(" and company_id = any(", q.arg(idArray(f.Companies)), "::uuid[])")
	}
	if c != nil {
		q.add(" and (created_at, id) < (", q.arg(c.Keys[0]), "::timestamptz, ", q.arg(c.ID), ")")
	}
	size := pageSize(f.Limit)
	q.add(" order by created_at desc, id desc limit ", q.arg(size+1))
	var rows []struct {
		probeRow
		Key string `db:"key"`
	}
	if err := db.page(ctx, "list probes", &rows, &q, c); err != nil {
		return page, err
	}
	if len(rows) > size {
		rows = rows[:size]
		page.Next = cursor{Order: "probes", Keys: []string{rows[size-1].Key}, ID: rows[size-1].ID.UUID}.String()
	}
	page.Items, err = domains[environment.Probe](rows)
	return page, err
}

// saved reports whether a probe is of a saved environment.
func saved(p environment.Probe) bool { return !p.Draft && p.EnvironmentID != nil }

// CreateProbe implements probing.Store.
func (db *DB) CreateProbe(ctx context.Context, p environment.Probe) (environment.Probe, bool, error) {
	var made environment.Probe
	var created bool
	err := db.tx(ctx, "create a probe", func(tx *sqlx.Tx) error {
		var err error
		if created, err = insertProbe(ctx, tx, p); err != nil {
			return err
		}
		if !created {
			made, err = underWay(ctx, tx, *p.EnvironmentID)
			return err
		}
		if made, err = probeIn(ctx, tx, p.ID); err != nil {
			return err
		}
		if err := wake(ctx, tx, p.ID); err != nil || !saved(p) {
			return err
		}
		if err := refreshHealth(ctx, tx, *p.EnvironmentID); err != nil {
			return err
		}
		return bump(ctx, tx)
	})
	return made, created, err
}

// insertProbe inserts a queued probe; false when one is under way already.
func insertProbe(ctx context.Context, tx *sqlx.Tx, p environment.Probe) (bool, error) {
	n, err := exec(ctx, tx, `
		insert into probes (id, environment_id, company_id, draft, driver, target, state, stages, config_revision, actor_name, owner,
			presented, trusted, created_at, deadline)
		values ($1, $2, $3, $4, $5, $6, 'queued', $7, $8, $9, $10, '[]', '[]', coalesce($11, now()), $12)
		on conflict (environment_id) where not draft and state in ('queued', 'running') do nothing`,
		p.ID, p.EnvironmentID, p.CompanyID, p.Draft, p.Driver, clean(p.Target), document{orEmpty(p.Stages)}, p.ConfigRevision,
		clean(p.ActorName), p.Owner, orNow(p.CreatedAt), p.Deadline)
	return n == 1, err
}

// underWay is the probe that kept another from being inserted. When it ended in
// between the transaction is to be done again.
func underWay(ctx context.Context, tx *sqlx.Tx, environmentID uuid.UUID) (environment.Probe, error) {
	var r probeRow
	err := tx.GetContext(ctx, &r, `
		select `+probeColumns+`, stages from probes
		where environment_id = $1 and not draft and state in ('queued', 'running')`, environmentID)
	if errors.Is(err, sql.ErrNoRows) {
		return environment.Probe{}, errLostRace
	}
	if err != nil {
		return environment.Probe{}, err
	}
	return r.domain()
}

// probeIn reads a probe within a transaction and locks its row.
func probeIn(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) (environment.Probe, error) {
	var r probeRow
	err := tx.GetContext(ctx, &r, `select `+probeColumns+`, stages from probes where id = $1 for no key update`, id)
	if err != nil {
		return environment.Probe{}, missing(err, "probe")
	}
	return r.domain()
}

// BeginProbe implements probing.Store. The deadline begins to run now: a probe
// that waited for its turn has its whole time.
func (db *DB) BeginProbe(ctx context.Context, id uuid.UUID) (bool, error) {
	var begun bool
	err := db.tx(ctx, "begin a probe", func(tx *sqlx.Tx) error {
		n, err := exec(ctx, tx, `
			update probes set state = 'running', started_at = now(), deadline = now() + (deadline - created_at)
			where id = $1 and state = 'queued'`, id)
		if begun = n == 1; err != nil || !begun {
			return err
		}
		p, err := probeIn(ctx, tx, id)
		if err != nil {
			return err
		}
		return emitLazily(ctx, tx, id, environment.EventState, p.EventOf())
	})
	return begun, err
}

// ReportStages implements probing.Store. It does not wait for the disk: a stage
// that a crash takes back is one that its probe did not survive either.
func (db *DB) ReportStages(ctx context.Context, id uuid.UUID, stages ...environment.Stage) error {
	payloads := make([]string, len(stages))
	for i, stage := range stages {
		text, err := document{stage}.Value()
		if err != nil {
			return err
		}
		payloads[i], _ = text.(string) // a stage is never null
	}
	return db.tx(ctx, "report stages", func(tx *sqlx.Tx) error {
		p, err := probeIn(ctx, tx, id)
		if err != nil || p.State.Ended() {
			return err
		}
		for _, stage := range stages {
			p.SetStage(stage)
		}
		_, err = exec(ctx, tx, `
			with changed as (update probes set stages = $2 where id = $1 returning id),
			added as (
				insert into events (subject, kind, payload)
				select id, $3, payload::jsonb from changed, unnest($4::text[]) with ordinality as stage (payload, place) order by place
				returning subject)
			select pg_notify($5, subject::text), `+lazily("true")+` from added limit 1`,
			id, document{orEmpty(p.Stages)}, string(environment.EventStage), pq.Array(payloads), channel)
		return err
	})
}

// AskCancel implements probing.Store.
func (db *DB) AskCancel(ctx context.Context, id uuid.UUID, by string) error {
	return db.tx(ctx, "ask a probe to stop", func(tx *sqlx.Tx) error {
		p, err := probeIn(ctx, tx, id)
		if err != nil || p.State.Ended() {
			return err
		}
		n, err := exec(ctx, tx, `update probes set cancel_asked_by = $2 where id = $1 and cancel_asked_by is null`, id, clean(by))
		if err != nil || n == 0 {
			return err
		}
		return wake(ctx, tx, id)
	})
}

// CancelAsked implements probing.Store.
func (db *DB) CancelAsked(ctx context.Context, id uuid.UUID) (bool, error) {
	var asked bool
	err := db.get(ctx, "read whether a probe is to stop", &asked, `select cancel_asked_by is not null from probes where id = $1`, id)
	return asked, missing(err, "probe")
}

package store

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"strings"

	"berth/environment"
	"berth/environment/running"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// CreateRun implements running.Store.
func (db *DB) CreateRun(ctx context.Context, r environment.Run, a environment.Activity) error {
	return db.tx(ctx, "create a run", func(tx *sqlx.Tx) error {
		_, err := exec(ctx, tx, `
			with made as (
				insert into runs (id, company_id, environment_id, environment_name, driver, target, kind, title, command, cwd, working_dir,
					env_names, timeout_sec, status, phases, owner, actor_name, created_at, deadline, input, agent_id, search,
					native, provider)
				values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, coalesce($18, now()), $19, $20, $24, $25, $26, $27)
				returning id),
			counted as (update environments set runs = runs + 1 where id = $3),
			added as (insert into events (subject, kind, payload) select id, $21, $22 from made returning subject)
			select pg_notify($23, subject::text) from added`,
			r.ID, r.CompanyID, r.EnvironmentID, clean(r.EnvironmentName), r.Driver, clean(r.Target), r.Kind, cleanPtr(r.Title),
			document{orEmpty(r.Command)}, cleanPtr(r.Cwd), cleanPtr(r.WorkingDir), document{orEmpty(r.EnvNames)}, r.TimeoutSec,
			string(r.Status), document{orEmpty(r.Phases)}, r.Owner, clean(r.ActorName), orNow(r.CreatedAt), r.Deadline, r.Input,
			string(environment.EventState), document{r.EventOf()}, channel, r.AgentID, clean(environment.RunSearchText(r)),
			r.Native, clean(r.Provider))
		if err != nil {
			return err
		}
		return record(ctx, tx, a)
	})
}

// Run implements running.Store.
func (db *DB) Run(ctx context.Context, id uuid.UUID) (environment.Run, error) {
	var r runRow
	if err := db.get(ctx, "read a run", &r, `select `+runColumns+`, input from runs where id = $1`, id); err != nil {
		return environment.Run{}, missing(err, "run")
	}
	return r.domain()
}

// Runs implements running.Store; without the sealed inputs.
func (db *DB) Runs(ctx context.Context, f running.Filter) (environment.Page[environment.Run], error) {
	page := environment.Page[environment.Run]{}
	after, err := readCursor(f.Cursor, "runs", 1)
	if err != nil {
		return page, err
	}
	size, text := pageSize(f.Limit), strings.ToLower(strings.TrimSpace(clean(f.Query)))
	var q query
	if text == "" {
		q.add(`select `, runColumns, `, created_at::text as key from runs`)
		q.whereRuns(f, after)
		q.add(" order by created_at desc, id desc limit ", q.arg(size+1))
	} else {
		q.searchRuns(f, after, text, size+1)
	}
	var rows []runRow
	if err := db.page(ctx, "list runs", &rows, &q, after); err != nil {
		return page, err
	}
	switch {
	case len(rows) > size:
		rows = rows[:size]
		page.Next = cursor{Order: "runs", Keys: []string{rows[size-1].Key}, ID: rows[size-1].ID}.String()
	case text != "":
		if page.Next, err = db.searchedUpTo(ctx, f, after); err != nil {
			return page, err
		}
	}
	page.Items, err = domains[environment.Run](rows)
	return page, err
}

// runIn reads a run within a transaction and locks its row. A zero owner stands
// for whoever owns it.
func runIn(ctx context.Context, tx *sqlx.Tx, id, owner uuid.UUID) (environment.Run, error) {
	var r runRow
	err := tx.GetContext(ctx, &r, `select `+runColumns+`, input from runs where id = $1 for no key update`, id)
	if err != nil {
		return environment.Run{}, missing(err, "run")
	}
	if owner != uuid.Nil && r.Owner != owner {
		return environment.Run{}, takenOver()
	}
	return r.domain()
}

func takenOver() error {
	return environment.Conflict("run_taken_over", "Another server looks after this run now.")
}

// UpdateRun implements running.Store. change may be called again when the
// transaction lost a race.
func (db *DB) UpdateRun(ctx context.Context, id, owner uuid.UUID, change func(*environment.Run) error, activity ...*environment.Activity) (environment.Run, error) {
	var next environment.Run
	err := db.tx(ctx, "change a run", func(tx *sqlx.Tx) error {
		before, err := runIn(ctx, tx, id, owner)
		if err != nil {
			return err
		}
		next = copyRun(before)
		if err := change(&next); err != nil {
			return err
		}
		if next.Status != before.Status && !before.Status.CanBecome(next.Status) {
			return environment.Conflict("run_state_changed", "The run is "+string(before.Status)+" and cannot become "+string(next.Status)+".")
		}
		next.ID, next.LogSize, next.LogCut = before.ID, before.LogSize, before.LogCut
		if reflect.DeepEqual(before, next) {
			return nil
		}
		if err := updateRun(ctx, tx, next, before.OnlyProgress(next)); err != nil {
			return err
		}
		if next.Status != before.Status && next.Status.Ended() {
			if err := emit(ctx, tx, id, environment.EventEnd, next.EventOf()); err != nil {
				return err
			}
		}
		for _, a := range activity {
			if err := record(ctx, tx, *a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return environment.Run{}, err
	}
	return next, nil
}

// copyRun shares nothing with r that a change could write through.
func copyRun(r environment.Run) environment.Run {
	r.Command, r.EnvNames, r.Phases = slices.Clone(r.Command), slices.Clone(r.EnvNames), slices.Clone(r.Phases)
	r.Input = bytes.Clone(r.Input)
	for _, p := range []**string{&r.Title, &r.Cwd, &r.WorkingDir, &r.Signal, &r.CancelBy} {
		*p = cleanPtr(*p)
	}
	return r
}

// updateRun stores a run over its row, with its state event. Mere progress is
// committed lazily: see lazily.
func updateRun(ctx context.Context, tx *sqlx.Tx, r environment.Run, progress bool) error {
	_, err := exec(ctx, tx, `
		with changed as (update runs set environment_name = $2, driver = $3, target = $4, title = $5, working_dir = $6, status = $7, exit_code = $8,
			signal = $9, failure = $10, host = $11, phases = $12, process = $13, termination = $14, lease_id = $15, owner = $16,
			cancel_by = $17, started_at = $18, deadline = $19, finished_at = $20, input = $21, timeout_sec = $22, env_names = $23,
			native = $28, provider = $29
			where id = $1 returning id),
		added as (insert into events (subject, kind, payload) select id, $24, $25 from changed returning subject)
		select pg_notify($26, subject::text), `+lazily("$27")+` from added`,
		r.ID, clean(r.EnvironmentName), r.Driver, clean(r.Target), cleanPtr(r.Title), cleanPtr(r.WorkingDir), string(r.Status),
		r.ExitCode, cleanPtr(r.Signal), document{r.Failure}, document{r.Host}, document{orEmpty(r.Phases)}, document{r.Process},
		clean(r.Termination), r.LeaseID, r.Owner, cleanPtr(r.CancelBy), r.StartedAt, r.Deadline, r.FinishedAt, r.Input, r.TimeoutSec,
		document{orEmpty(r.EnvNames)}, string(environment.EventState), document{r.EventOf()}, channel, progress,
		r.Native, clean(r.Provider))
	return err
}

// OrphanedRuns implements running.Store.
func (db *DB) OrphanedRuns(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Run, error) {
	var all []environment.Run
	err := db.tx(ctx, "take over runs", func(tx *sqlx.Tx) error {
		var rows []runRow
		err := tx.SelectContext(ctx, &rows, `
			update runs set owner = $1 where id in (
				select r.id from runs r
				where r.status in ('queued', 'acquiring', 'preparing', 'running', 'cancelling')
				and r.owner <> $1 and not `+alive("r.owner")+`
				order by r.id limit $2 for update skip locked)
			returning `+runColumns+`, input`, owner, limit)
		if err != nil {
			return err
		}
		if all, err = domains[environment.Run](rows); err != nil || len(all) == 0 {
			return err
		}
		var held []uuid.UUID
		for _, r := range all {
			if r.LeaseID != nil {
				held = append(held, *r.LeaseID)
			}
		}
		_, err = exec(ctx, tx, `update environment_leases set owner = $1 where id = any($2::uuid[]) and status = 'active'`, owner, idArray(held))
		return err
	})
	return all, err
}

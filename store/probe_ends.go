package store

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// FinishProbe implements probing.Store.
func (db *DB) FinishProbe(ctx context.Context, verdict environment.Probe, change environment.QualificationChange, a environment.Activity) (environment.Probe, error) {
	var p environment.Probe
	err := db.tx(ctx, "store a verdict", func(tx *sqlx.Tx) error {
		var err error
		if p, err = probeIn(ctx, tx, verdict.ID); err != nil || p.State.Ended() {
			return err
		}
		if !verdict.State.Ended() {
			return environment.Conflict("probe_state_changed", "A verdict ends a probe.")
		}
		p.State, p.OK, p.Code, p.Summary, p.Stages = verdict.State, verdict.OK, verdict.Code, verdict.Summary, verdict.Stages
		p.Host, p.Platform, p.Presented, p.Trusted = verdict.Host, verdict.Platform, verdict.Presented, verdict.Trusted
		p.Image, p.Qualification, p.LeaseID, p.Proves = verdict.Image, verdict.Qualification, verdict.LeaseID, verdict.Proves
		if verdict.StartedAt != nil {
			p.StartedAt = verdict.StartedAt
		}
		if p.FinishedAt = verdict.FinishedAt; p.FinishedAt == nil {
			if p.FinishedAt, err = now(ctx, tx); err != nil {
				return err
			}
		}
		if err := qualify(ctx, tx, &p, change, cmp.Or(a.ActorName, p.ActorName)); err != nil {
			return err
		}
		if err := endProbe(ctx, tx, p); err != nil {
			return err
		}
		if err := record(ctx, tx, a); err != nil {
			return err
		}
		if saved(p) {
			if err := bump(ctx, tx); err != nil {
				return err
			}
		}
		p, err = probeIn(ctx, tx, p.ID)
		return err
	})
	return p, err
}

// now is the database's clock.
func now(ctx context.Context, tx *sqlx.Tx) (*time.Time, error) {
	var at time.Time
	err := tx.GetContext(ctx, &at, `select now()`)
	return &at, err
}

// endProbe stores how a probe ended and what follows for its environment; the
// catalogue is left for the caller to bump.
func endProbe(ctx context.Context, tx *sqlx.Tx, p environment.Probe) error {
	_, err := exec(ctx, tx, `
		update probes set state = $2, ok = $3, code = $4, summary = $5, health = $6, stages = $7, remarks = $8, host = $9,
			platform = $10, presented = $11, trusted = $12, started_at = $13, finished_at = $14, image = $15, qualification = $16,
			lease_id = $17, proves = $18
		where id = $1`,
		p.ID, string(p.State), p.OK, clean(p.Code), clean(p.Summary), string(p.Health()), document{orEmpty(p.Stages)},
		document{p.Remarks()}, document{p.Host}, document{p.Platform}, document{orEmpty(p.Presented)}, document{orEmpty(p.Trusted)},
		p.StartedAt, p.FinishedAt, document{p.Image}, document{p.Qualification}, p.LeaseID, clean(p.Proves))
	if err != nil {
		return err
	}
	if err := emit(ctx, tx, p.ID, environment.EventEnd, p.EventOf()); err != nil || !saved(p) {
		return err
	}
	return becomeLast(ctx, tx, p)
}

// becomeLast makes the probe the environment's last where it may be that, and
// adds its mark to the latency line.
func becomeLast(ctx context.Context, tx *sqlx.Tx, p environment.Probe) error {
	var e struct {
		ConfigRevision int    `db:"config_revision"`
		HasLast        bool   `db:"has_last"`
		Recent         stored `db:"recent"`
	}
	err := tx.GetContext(ctx, &e, `
		select config_revision, last_probe_id is not null as has_last, recent from environments where id = $1 for no key update`,
		*p.EnvironmentID)
	if err != nil {
		return missing(err, "environment")
	}
	var recent []environment.ProbeMark
	if err := e.Recent.into(&recent); err != nil {
		return err
	}
	if mark, ok := p.Mark(); ok {
		recent = append(recent, mark)
		recent = recent[max(0, len(recent)-environment.MaxRecent):]
	}
	_, err = exec(ctx, tx, `
		update environments set recent = $2, last_probe_id = case when $4 then $3 else last_probe_id end where id = $1`,
		*p.EnvironmentID, document{orEmpty(recent)}, p.ID, p.BecomesLast(e.ConfigRevision, e.HasLast))
	if err != nil {
		return err
	}
	return refreshHealth(ctx, tx, *p.EnvironmentID)
}

// InterruptOrphans implements probing.Store.
func (db *DB) InterruptOrphans(ctx context.Context, owner uuid.UUID) (int, error) {
	overdue := "interval '" + strconv.Itoa(int(environment.ProbeOverdue/time.Second)) + " seconds'"
	var n int
	err := db.tx(ctx, "interrupt orphaned probes", func(tx *sqlx.Tx) error {
		var ids []uuid.UUID
		err := tx.SelectContext(ctx, &ids, `
			select id from probes p
			where state in ('queued', 'running')
				and (p.owner <> $1 and not `+alive("p.owner")+` or state = 'running' and deadline < now() - `+overdue+`)
			order by id limit 200 for update skip locked`, owner)
		if n = len(ids); err != nil || n == 0 {
			return err
		}
		at, err := now(ctx, tx)
		if err != nil {
			return err
		}
		for _, id := range ids {
			p, err := probeIn(ctx, tx, id)
			if err != nil {
				return err
			}
			p.Interrupt(*at)
			if err := endProbe(ctx, tx, p); err != nil {
				return err
			}
			if err := record(ctx, tx, environment.Interruption(p)); err != nil {
				return err
			}
		}
		return bump(ctx, tx)
	})
	return n, err
}

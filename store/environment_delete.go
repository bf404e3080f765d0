package store

import (
	"context"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

const impactQuery = `
	select e.driver = 'local' as is_local, coalesce(i.default_environment_id = e.id, false) as is_default, e.revision,
		held.active_leases, held.retained_leases, held.pending_cleanup, work.active_runs, e.runs, assigned.agent_defaults,
		(select count(*) from secrets s where s.environment_id = e.id and s.retired_at is null) as secrets` + viewFrom + ` where e.id = $1`

type impactRow struct {
	environment.Uses
	IsLocal   bool `db:"is_local"`
	IsDefault bool `db:"is_default"`
	Revision  int  `db:"revision"`
	Secrets   int  `db:"secrets"`
}

func (r impactRow) impact(id uuid.UUID, reassigned bool) environment.Impact {
	i := environment.Impact{EnvironmentID: id, IsManagedLocal: r.IsLocal, IsDefault: r.IsDefault, Uses: r.Uses, SecretCount: r.Secrets}
	i.Judge(reassigned)
	return i
}

// Impact implements catalogue.Store.
func (db *DB) Impact(ctx context.Context, id uuid.UUID) (environment.Impact, error) {
	var r impactRow
	if err := db.get(ctx, "weigh a delete", &r, impactQuery, id); err != nil {
		return environment.Impact{}, missing(err, "environment")
	}
	return r.impact(id, false), nil
}

// DeleteEnvironment implements catalogue.Store.
func (db *DB) DeleteEnvironment(ctx context.Context, id uuid.UUID, o environment.DeleteOptions, a environment.Activity) (environment.Environment, error) {
	var gone environment.Environment
	err := db.tx(ctx, "delete an environment", func(tx *sqlx.Tx) error {
		// The lock keeps a run or a lease from coming in between: their rows
		// refer to this one.
		if _, err := exec(ctx, tx, `select 1 from environments where id = $1 for update`, id); err != nil {
			return err
		}
		var r impactRow
		if err := tx.GetContext(ctx, &r, impactQuery, id); err != nil {
			return missing(err, "environment")
		}
		if o.IfRevision != nil && *o.IfRevision != r.Revision {
			return stale(ctx, tx, id)
		}
		impact := r.impact(id, o.ReassignTo != nil)
		if !impact.CanDelete() {
			return environment.Conflict("environment_in_use", "The environment is in use.").With("deleteBlockedReasons", impact.Blocked)
		}
		if err := reassign(ctx, tx, id, o.ReassignTo); err != nil {
			return err
		}
		var err error
		if gone, err = environmentIn(ctx, tx, id); err != nil {
			return err
		}
		if err := forget(ctx, tx, id); err != nil {
			return err
		}
		if err := record(ctx, tx, a); err != nil {
			return err
		}
		return bump(ctx, tx)
	})
	return gone, err
}

// reassign makes to the default where from is: of the instance and of agents.
func reassign(ctx context.Context, tx *sqlx.Tx, from uuid.UUID, to *uuid.UUID) error {
	if to == nil {
		return nil
	}
	if *to == from {
		return environment.Invalid(environment.CodeEnvironmentNotFound, "Choose another environment to take over.")
	}
	if err := mayBeDefault(ctx, tx, *to); err != nil {
		return err
	}
	_, err := exec(ctx, tx, `
		update instance set default_environment_id = $2, revision = revision + 1, updated_at = now()
		where default_environment_id = $1`, from, *to)
	if err != nil {
		return err
	}
	_, err = exec(ctx, tx, `update agents set default_environment_id = $2, updated_at = now() where default_environment_id = $1`, from, *to)
	return err
}

// forget deletes the row. Probes and bindings go with it by their references, its
// own secrets as soon as no cleanup needs them, the probes' events here; runs and
// leases stay and lose the reference only.
func forget(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) error {
	if err := abandon(ctx, tx, id); err != nil {
		return err
	}
	if err := retireAll(ctx, tx, id); err != nil {
		return err
	}
	for _, statement := range []string{
		`delete from events where subject in (select id from probes where environment_id = $1)`,
		`update environments set last_probe_id = null where id = $1`,
		`delete from environments where id = $1`,
	} {
		if _, err := exec(ctx, tx, statement, id); err != nil {
			return err
		}
	}
	return nil
}

// abandon makes the sandboxes that an environment keeps wait for their clean-up,
// which needs the environment no more; it says what environment.Lease.Abandon says.
func abandon(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) error {
	_, err := exec(ctx, tx, `
		update environment_leases set status = 'pending_cleanup', cleanup_outcome = 'expired', cleanup_status = 'pending', failure_reason = $2,
			cleanup_next_at = now(), cleanup_claim_until = null, updated_at = now()
		where environment_id = $1 and status = 'retained'`, id, environment.ReasonEnvironmentDeleted)
	return err
}

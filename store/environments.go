package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"berth/environment"
	"berth/environment/catalogue"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// Environment implements catalogue.Store, probing.Store and running.Store.
func (db *DB) Environment(ctx context.Context, id uuid.UUID) (environment.EnvironmentView, error) {
	return db.view(ctx, "read an environment", `e.id = $1`, id)
}

// view is the one environment of a condition.
func (db *DB) view(ctx context.Context, what, condition string, args ...any) (environment.EnvironmentView, error) {
	var r viewRow
	err := db.get(ctx, what, &r, `select `+viewColumns("l.stages")+viewFrom+` where `+condition, args...)
	if err != nil {
		return environment.EnvironmentView{}, missing(err, "environment")
	}
	return r.domain()
}

// CreateEnvironment implements catalogue.Store.
func (db *DB) CreateEnvironment(ctx context.Context, w catalogue.Write) (environment.Environment, error) {
	var made environment.Environment
	err := db.tx(ctx, "create an environment", func(tx *sqlx.Tx) error {
		ok, err := insertEnvironment(ctx, tx, w.Environment, "")
		if err != nil {
			return err
		}
		if !ok {
			return errors.New("no row was inserted")
		}
		if made, err = environmentIn(ctx, tx, w.Environment.ID); err != nil {
			return err
		}
		return finishWrite(ctx, tx, w)
	})
	return made, err
}

// insertEnvironment inserts a first revision; false when onConflict let it be.
func insertEnvironment(ctx context.Context, tx *sqlx.Tx, e environment.Environment, onConflict string) (bool, error) {
	if e.Status == "" {
		e.Status = environment.StatusActive
	}
	n, err := exec(ctx, tx, `
		insert into environments (id, name, name_key, description, driver, status, config, env_vars, metadata, search,
			created_at, updated_at, managed, budget)
		values ($1, $2, $3, $4, $5, $6, coalesce($7, '{}'::jsonb), $8, $9, $10, coalesce($11, now()), coalesce($12, now()), $13, $14) `+onConflict,
		e.ID, clean(e.Name), environment.NameKey(clean(e.Name)), cleanPtr(e.Description), e.Driver, string(e.Status), document{e.Config},
		document{envVarDocs(e.EnvVars)}, document{e.Metadata}, clean(environment.SearchText(e)), orNow(e.CreatedAt), orNow(e.UpdatedAt),
		e.Managed, document{e.Budget})
	return n == 1, err
}

// environmentIn reads an environment within a transaction.
func environmentIn(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) (environment.Environment, error) {
	var r environmentRow
	err := tx.GetContext(ctx, &r, `select `+environmentColumns+` from environments where id = $1`, id)
	if err != nil {
		return environment.Environment{}, missing(err, "environment")
	}
	return r.domain()
}

// finishWrite does what every write of an environment ends with.
func finishWrite(ctx context.Context, tx *sqlx.Tx, w catalogue.Write) error {
	if err := writeSecrets(ctx, tx, w); err != nil {
		return err
	}
	for _, a := range append([]environment.Activity{w.Activity}, w.MoreActivity...) {
		if err := record(ctx, tx, a); err != nil {
			return err
		}
	}
	return bump(ctx, tx)
}

// UpdateEnvironment implements catalogue.Store.
func (db *DB) UpdateEnvironment(ctx context.Context, w catalogue.Write, expect int) (environment.Environment, error) {
	var made environment.Environment
	err := db.tx(ctx, "change an environment", func(tx *sqlx.Tx) error {
		e := w.Environment
		n, err := exec(ctx, tx, `
			update environments set name = $3, name_key = $4, description = $5, driver = $6, status = $7, config = coalesce($8, '{}'::jsonb),
				env_vars = $9, metadata = $10, search = $11, updated_at = coalesce($12, now()), revision = revision + 1,
				config_revision = case when $13 then revision + 1 else config_revision end, managed = $14, budget = $15
			where id = $1 and revision = $2`,
			e.ID, expect, clean(e.Name), environment.NameKey(clean(e.Name)), cleanPtr(e.Description), e.Driver, string(e.Status),
			document{e.Config}, document{envVarDocs(e.EnvVars)}, document{e.Metadata}, clean(environment.SearchText(e)),
			orNow(e.UpdatedAt), w.ConfigChanged, e.Managed, document{e.Budget})
		if err != nil {
			return err
		}
		if n == 0 {
			return stale(ctx, tx, e.ID)
		}
		if err := mayArchive(ctx, tx, e); err != nil {
			return err
		}
		if err := refreshHealth(ctx, tx, e.ID); err != nil {
			return err
		}
		if w.RevokeFor != "" {
			if _, err := revoke(ctx, tx, w.RevokeFor, w.Activity.ActorName, `environment_id = $3`, e.ID); err != nil {
				return err
			}
		}
		if made, err = environmentIn(ctx, tx, e.ID); err != nil {
			return err
		}
		return finishWrite(ctx, tx, w)
	})
	return made, err
}

// mayArchive refuses to archive the default. The row of e was written: whoever
// makes it the default now waits for tx, as tx waited for who came before.
func mayArchive(ctx context.Context, tx *sqlx.Tx, e environment.Environment) error {
	if e.Status != environment.StatusArchived {
		return nil
	}
	var isDefault bool
	err := tx.GetContext(ctx, &isDefault, `select coalesce(default_environment_id = $1, false) from instance`, e.ID)
	if err == nil && isDefault {
		return environment.IsTheDefault(e.Name)
	}
	return err
}

// stale is the refusal of a write that came too late, and says who was first.
func stale(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) error {
	var now struct {
		Revision  int       `db:"revision"`
		UpdatedAt time.Time `db:"updated_at"`
		By        string    `db:"changed_by"`
	}
	err := tx.GetContext(ctx, &now, `
		select e.revision, e.updated_at, coalesce((
			select actor_name from activity where entity_type = 'environment' and entity_id = $1::text
			order by created_at desc, id desc limit 1), '') as changed_by
		from environments e where e.id = $1::uuid`, id.String())
	if err != nil {
		return missing(err, "environment")
	}
	return environment.NewError(environment.KindStale, environment.CodeStaleRevision, "Somebody changed this environment since.").
		With("current", now.Revision).With("changedBy", now.By).With("changedAt", now.UpdatedAt.UTC())
}

// refreshHealth derives the health by which a list filters and sorts; it says
// what environment.EnvironmentView.Health says of the same rows.
func refreshHealth(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) error {
	_, err := exec(ctx, tx, `
		update environments e set
			health = case
				when exists (select 1 from probes a where a.environment_id = e.id and not a.draft and a.state in ('queued', 'running'))
					then 'testing'
				when l.id is null then 'untested'
				when l.config_revision <> e.config_revision then 'changed'
				else l.health end,
			tested_at = coalesce(l.finished_at, '-infinity')
		from environments self left join probes l on l.id = self.last_probe_id
		where e.id = $1 and self.id = e.id`, id)
	return err
}

// local is the id of the one local environment; false when there is none.
func local(ctx context.Context, tx *sqlx.Tx) (uuid.UUID, bool, error) {
	var id uuid.UUID
	err := tx.GetContext(ctx, &id, `select id from environments where driver = 'local'`)
	if errors.Is(err, sql.ErrNoRows) {
		return id, false, nil
	}
	return id, err == nil, err
}

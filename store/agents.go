package store

import (
	"context"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

const agentColumns = `id, company_id, name, adapter_type, status, default_environment_id, created_at, updated_at`

func agentInUTC(a environment.Agent) environment.Agent {
	a.CreatedAt, a.UpdatedAt = a.CreatedAt.UTC(), a.UpdatedAt.UTC()
	return a
}

// Agents implements identity.Store: by name.
func (db *DB) Agents(ctx context.Context, company uuid.UUID) ([]environment.Agent, error) {
	all := []environment.Agent{}
	err := db.list(ctx, "list agents", &all, `select `+agentColumns+` from agents where company_id = $1 order by name_key, id`, company)
	for i := range all {
		all[i] = agentInUTC(all[i])
	}
	return all, err
}

// Agent implements identity.Store.
func (db *DB) Agent(ctx context.Context, id uuid.UUID) (environment.Agent, error) {
	var a environment.Agent
	err := db.get(ctx, "read an agent", &a, `select `+agentColumns+` from agents where id = $1`, id)
	return agentInUTC(a), missing(err, "agent")
}

// CreateAgent implements identity.Store.
func (db *DB) CreateAgent(ctx context.Context, g environment.Agent, a environment.Activity) error {
	return db.tx(ctx, "create an agent", func(tx *sqlx.Tx) error {
		if g.DefaultEnvironmentID != nil {
			if err := mayBeDefault(ctx, tx, *g.DefaultEnvironmentID); err != nil {
				return err
			}
		}
		if g.Status == "" {
			g.Status = environment.AgentActive
		}
		name := clean(g.Name)
		_, err := exec(ctx, tx, `
			insert into agents (id, company_id, name, name_key, adapter_type, status, default_environment_id, created_at, updated_at)
			values ($1, $2, $3, $4, $5, $6, $7, coalesce($8, now()), coalesce($9, now()))`,
			g.ID, g.CompanyID, name, environment.NameKey(name), clean(g.AdapterType), string(g.Status), g.DefaultEnvironmentID,
			orNow(g.CreatedAt), orNow(g.UpdatedAt))
		if err != nil {
			return err
		}
		return finishAgent(ctx, tx, g.DefaultEnvironmentID != nil, a)
	})
}

// UpdateAgent implements identity.Store. Its keys are woken whatever changed.
func (db *DB) UpdateAgent(ctx context.Context, id uuid.UUID, p identity.AgentPatch, a environment.Activity) (environment.Agent, error) {
	var changed environment.Agent
	err := db.tx(ctx, "change an agent", func(tx *sqlx.Tx) error {
		if p.DefaultEnvironmentID != nil && !p.ClearDefault {
			if err := mayBeDefault(ctx, tx, *p.DefaultEnvironmentID); err != nil {
				return err
			}
		}
		var nameKey *string
		if p.Name = cleanPtr(p.Name); p.Name != nil {
			key := environment.NameKey(*p.Name)
			nameKey = &key
		}
		changed = environment.Agent{}
		err := tx.GetContext(ctx, &changed, `
			update agents set name = coalesce($2, name), name_key = coalesce($3, name_key), adapter_type = coalesce($4, adapter_type),
				status = coalesce($5, status),
				default_environment_id = case when $7::boolean then null else coalesce($6, default_environment_id) end, updated_at = now()
			where id = $1 returning `+agentColumns,
			id, p.Name, nameKey, cleanPtr(p.AdapterType), (*string)(p.Status), p.DefaultEnvironmentID, p.ClearDefault)
		if err != nil {
			return missing(err, "agent")
		}
		changed = agentInUTC(changed)
		if err := wakeAgent(ctx, tx, id); err != nil {
			return err
		}
		return finishAgent(ctx, tx, p.DefaultEnvironmentID != nil || p.ClearDefault, a)
	})
	return changed, err
}

// finishAgent does what every write of an agent ends with. The list of
// environments shows how many agents work in each by default.
func finishAgent(ctx context.Context, tx *sqlx.Tx, assigned bool, a environment.Activity) error {
	if err := record(ctx, tx, a); err != nil || !assigned {
		return err
	}
	return bump(ctx, tx)
}

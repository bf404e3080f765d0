package store

import (
	"database/sql"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

const environmentColumns = `id, name, description, driver, status, config, env_vars, metadata, revision, config_revision,
	created_at, updated_at, recent, runs, managed, budget`

type environmentRow struct {
	ID             uuid.UUID          `db:"id"`
	Name           string             `db:"name"`
	Description    *string            `db:"description"`
	Driver         string             `db:"driver"`
	Status         environment.Status `db:"status"`
	Config         stored             `db:"config"`
	EnvVars        stored             `db:"env_vars"`
	Metadata       stored             `db:"metadata"`
	Revision       int                `db:"revision"`
	ConfigRevision int                `db:"config_revision"`
	CreatedAt      time.Time          `db:"created_at"`
	UpdatedAt      time.Time          `db:"updated_at"`
	Recent         stored             `db:"recent"`
	Runs           int                `db:"runs"`
	Managed        bool               `db:"managed"`
	Budget         stored             `db:"budget"`
}

// envVarDoc is how one variable is stored.
type envVarDoc struct {
	Type  string                 `json:"type"`
	Value string                 `json:"value,omitempty"`
	Ref   *environment.SecretRef `json:"ref,omitempty"`
}

func envVarDocs(vars map[string]environment.EnvVar) map[string]envVarDoc {
	docs := make(map[string]envVarDoc, len(vars))
	for name, v := range vars {
		docs[name] = envVarDoc(v)
	}
	return docs
}

func (r environmentRow) domain() (environment.Environment, error) {
	e := environment.Environment{ID: r.ID, Name: r.Name, Description: r.Description, Driver: r.Driver, Status: r.Status,
		Config: r.Config.raw(), EnvVars: map[string]environment.EnvVar{}, Metadata: r.Metadata.raw(), Revision: r.Revision,
		ConfigRevision: r.ConfigRevision, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), Managed: r.Managed}
	if err := r.Budget.into(&e.Budget); err != nil {
		return e, err
	}
	var docs map[string]envVarDoc
	if err := r.EnvVars.into(&docs); err != nil {
		return e, err
	}
	for name, doc := range docs {
		e.EnvVars[name] = environment.EnvVar(doc)
	}
	return e, nil
}

// viewFrom joins an environment (e) with its last probe (l), the one under way
// (a) and counts of what holds it now. Each is found by an index that knows no
// history.
const viewFrom = `
	from environments e
	cross join instance i
	left join probes l on l.id = e.last_probe_id
	left join probes a on a.environment_id = e.id and not a.draft and a.state in ('queued', 'running')
	left join lateral (
		select count(*) filter (where status not in ('retained', 'pending_cleanup')) as active_leases,
			count(*) filter (where status = 'retained') as retained_leases,
			count(*) filter (where status = 'pending_cleanup') as pending_cleanup
		from environment_leases
		where environment_id = e.id and status in ('acquiring', 'active', 'releasing', 'retained', 'pending_cleanup')
	) held on true
	left join lateral (
		select count(*) as active_runs from runs
		where environment_id = e.id and status in ('queued', 'acquiring', 'preparing', 'running', 'cancelling')
	) work on true
	left join lateral (select count(*) as agent_defaults from agents where default_environment_id = e.id) assigned on true`

// viewColumns are those of viewRow. stages is where the last probe's stages are
// read from: l.stages, or l.remarks for those that a list carries.
func viewColumns(stages string) string {
	return prefixed("e", environmentColumns) + ", " +
		prefixed("l", probeColumns) + ", " + stages + ` as "l.stages", ` +
		prefixed("a", probeColumns) + `, a.stages as "a.stages",
		coalesce(i.default_environment_id = e.id, false) as is_default, e.managed and i.managed_provider <> '' as provisioned,
		held.active_leases, held.retained_leases, held.pending_cleanup, work.active_runs,
		assigned.agent_defaults`
}

type viewRow struct {
	E              environmentRow `db:"e"`
	L              probeRow       `db:"l"`
	A              probeRow       `db:"a"`
	IsDefault      bool           `db:"is_default"`
	Provisioned    bool           `db:"provisioned"`
	ActiveLeases   int            `db:"active_leases"`
	RetainedLeases int            `db:"retained_leases"`
	PendingCleanup int            `db:"pending_cleanup"`
	ActiveRuns     int            `db:"active_runs"`
	AgentDefaults  int            `db:"agent_defaults"`
	Key1           sql.NullString `db:"key1"`
	Key2           sql.NullString `db:"key2"`
}

func (r viewRow) domain() (environment.EnvironmentView, error) {
	var v environment.EnvironmentView
	var err error
	if v.Environment, err = r.E.domain(); err != nil {
		return v, err
	}
	if err := r.E.Recent.into(&v.Recent); err != nil {
		return v, err
	}
	if v.Last, err = r.L.optional(); err != nil {
		return v, err
	}
	if v.Active, err = r.A.optional(); err != nil {
		return v, err
	}
	v.IsDefault, v.Provisioned = r.IsDefault, r.Provisioned
	v.Uses = environment.Uses{ActiveLeases: r.ActiveLeases, Retained: r.RetainedLeases, PendingCleanup: r.PendingCleanup, ActiveRuns: r.ActiveRuns, Runs: r.E.Runs,
		AgentDefaults: r.AgentDefaults}
	return v, nil
}

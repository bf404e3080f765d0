package store

import (
	"database/sql"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// probeColumns are those of probeRow, but for the stages.
const probeColumns = `id, environment_id, company_id, draft, driver, target, state, ok, summary, code, host, platform, presented,
	trusted, config_revision, actor_name, owner, created_at, started_at, finished_at, deadline, image,
	qualification, lease_id, proves`

// probeRow may be the empty side of a join: then its ID is not valid.
type probeRow struct {
	ID             uuid.NullUUID  `db:"id"`
	EnvironmentID  *uuid.UUID     `db:"environment_id"`
	CompanyID      *uuid.UUID     `db:"company_id"`
	Draft          sql.NullBool   `db:"draft"`
	Driver         sql.NullString `db:"driver"`
	Target         sql.NullString `db:"target"`
	State          sql.NullString `db:"state"`
	OK             sql.NullBool   `db:"ok"`
	Summary        sql.NullString `db:"summary"`
	Code           sql.NullString `db:"code"`
	Stages         stored         `db:"stages"`
	Host           stored         `db:"host"`
	Platform       stored         `db:"platform"`
	Presented      stored         `db:"presented"`
	Trusted        stored         `db:"trusted"`
	ConfigRevision sql.NullInt64  `db:"config_revision"`
	ActorName      sql.NullString `db:"actor_name"`
	Owner          uuid.NullUUID  `db:"owner"`
	CreatedAt      sql.NullTime   `db:"created_at"`
	StartedAt      *time.Time     `db:"started_at"`
	FinishedAt     *time.Time     `db:"finished_at"`
	Deadline       sql.NullTime   `db:"deadline"`
	Image          stored         `db:"image"`
	Qualification  stored         `db:"qualification"`
	LeaseID        *uuid.UUID     `db:"lease_id"`
	Proves         sql.NullString `db:"proves"`
}

// optional is the probe, or nil on the empty side of a join.
func (r probeRow) optional() (*environment.Probe, error) {
	if !r.ID.Valid {
		return nil, nil
	}
	p, err := r.domain()
	return &p, err
}

func (r probeRow) domain() (environment.Probe, error) {
	p := environment.Probe{ID: r.ID.UUID, EnvironmentID: r.EnvironmentID, CompanyID: r.CompanyID, Draft: r.Draft.Bool,
		Driver: r.Driver.String, Target: r.Target.String, State: environment.ProbeState(r.State.String), OK: r.OK.Bool,
		Summary: r.Summary.String, Code: r.Code.String, Stages: []environment.Stage{}, Presented: []environment.HostKey{},
		Trusted: []environment.HostKey{}, ConfigRevision: int(r.ConfigRevision.Int64), ActorName: r.ActorName.String, Owner: r.Owner.UUID,
		CreatedAt: r.CreatedAt.Time.UTC(), StartedAt: utc(r.StartedAt), FinishedAt: utc(r.FinishedAt), Deadline: r.Deadline.Time.UTC(),
		LeaseID: r.LeaseID, Proves: r.Proves.String}
	for _, doc := range []struct {
		from stored
		into any
	}{{r.Stages, &p.Stages}, {r.Host, &p.Host}, {r.Platform, &p.Platform}, {r.Presented, &p.Presented}, {r.Trusted, &p.Trusted},
		{r.Image, &p.Image}, {r.Qualification, &p.Qualification}} {
		if err := doc.from.into(doc.into); err != nil {
			return p, err
		}
	}
	return p, nil
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// orEmpty keeps a list from being stored as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

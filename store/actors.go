package store

import (
	"context"
	"database/sql"
	"errors"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// rolesOf is a person's roles by company, as one document: whoever reads people
// reads their roles in the same statement.
func rolesOf(person string) string {
	return `coalesce((select jsonb_object_agg(m.company_id, m.role) from memberships m where m.person_id = ` + person + `), '{}')`
}

// actorRow is the holder of a credential.
type actorRow struct {
	Credential uuid.UUID  `db:"credential"`
	PersonID   *uuid.UUID `db:"person_id"`
	AgentID    *uuid.UUID `db:"agent_id"`
	CompanyID  *uuid.UUID `db:"company_id"`
	Name       string     `db:"name"`
	Admin      bool       `db:"instance_admin"`
	Roles      stored     `db:"roles"`
	// Unseen says that the last use was not noted for a minute.
	Unseen bool `db:"unseen"`
}

func (r actorRow) actor(kind environment.CredentialKind) (environment.Actor, error) {
	a := environment.Actor{Name: r.Name, Credential: environment.Credential{Kind: kind, ID: r.Credential}}
	if r.AgentID != nil && r.CompanyID != nil {
		a.Kind, a.ID, a.CompanyID, a.Credential.Kind = environment.ActorAgent, *r.AgentID, *r.CompanyID, environment.CredentialKey
		return a, nil
	}
	if r.PersonID != nil {
		a.Kind, a.ID, a.InstanceAdmin = environment.ActorPerson, *r.PersonID, r.Admin
	}
	return a, r.Roles.into(&a.Roles)
}

// sessionActor finds the holder of a session that counts; keyActor that of a key.
var (
	sessionActor = `
		select s.id as credential, p.id as person_id, p.name, p.instance_admin, ` + rolesOf("p.id") + ` as roles,
			s.last_seen_at < now() - interval '1 minute' as unseen
		from person_sessions s join people p on p.id = s.person_id
		where s.expires_at > now() and p.disabled_at is null and s.id = $1`
	keyActor = `
		select k.id as credential, p.id as person_id, a.id as agent_id, a.company_id, coalesce(p.name, a.name) as name,
			coalesce(p.instance_admin, false) as instance_admin, ` + rolesOf("p.id") + ` as roles,
			coalesce(k.last_used_at < now() - interval '1 minute', true) as unseen
		from api_keys k left join people p on p.id = k.person_id left join agents a on a.id = k.agent_id
		where k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
			and (p.id is null or p.disabled_at is null) and (a.id is null or a.status = 'active') and `
)

// ActorOfSession implements identity.Store.
func (db *DB) ActorOfSession(ctx context.Context, id uuid.UUID) (environment.Actor, error) {
	row, err := db.actorRow(ctx, sessionActor, id, identity.SessionEnded())
	if err != nil {
		return environment.Actor{}, err
	}
	if row.Unseen {
		db.noteUse(ctx, "person_sessions", "last_seen_at", row)
	}
	return row.actor(environment.CredentialSession)
}

// ActorOfKey implements identity.Store.
func (db *DB) ActorOfKey(ctx context.Context, hash []byte) (environment.Actor, error) {
	row, err := db.actorRow(ctx, keyActor+`k.hash = $1`, hash, identity.InvalidKey())
	if err != nil {
		return environment.Actor{}, err
	}
	if row.Unseen {
		db.noteUse(ctx, "api_keys", "last_used_at", row)
	}
	return row.actor(environment.CredentialToken)
}

// Counts implements identity.Store. It notes no use: a page that is only open
// asks, too.
func (db *DB) Counts(ctx context.Context, c environment.Credential) (environment.Actor, error) {
	var row actorRow
	var err error
	switch c.Kind {
	case environment.CredentialSession:
		row, err = db.actorRow(ctx, sessionActor, c.ID, identity.SessionEnded())
	case environment.CredentialToken, environment.CredentialKey:
		row, err = db.actorRow(ctx, keyActor+`k.id = $1`, c.ID, identity.InvalidKey())
	default:
		err = identity.InvalidKey()
	}
	if err != nil {
		return environment.Actor{}, err
	}
	return row.actor(c.Kind)
}

func (db *DB) actorRow(ctx context.Context, query string, by any, none *environment.Error) (actorRow, error) {
	var row actorRow
	err := db.get(ctx, "find who asks", &row, query, by)
	if errors.Is(err, sql.ErrNoRows) {
		return row, none
	}
	return row, err
}

// noteUse notes that a credential, and with it its person, was seen now. It does
// not wait for the disk, and whoever asks is not refused because it failed.
func (db *DB) noteUse(ctx context.Context, table, column string, row actorRow) {
	err := db.tx(ctx, "note a credential's use", func(tx *sqlx.Tx) error {
		_, err := exec(ctx, tx, `
			with seen as (
				update `+table+` set `+column+` = now()
				where id = $1 and coalesce(`+column+` < now() - interval '1 minute', true) returning person_id),
			person as (update people p set last_seen_at = now() from seen where p.id = seen.person_id)
			select `+lazily("true"), row.Credential)
		return err
	})
	if err != nil && ctx.Err() == nil {
		db.log.Warn("note a credential's use", "err", err)
	}
}

// wakePerson wakes the subject of each of a person's credentials, so that what
// they may do now is asked again at once; wakeAgent an agent's.
func wakePerson(ctx context.Context, tx *sqlx.Tx, person uuid.UUID) error {
	_, err := exec(ctx, tx, `
		select pg_notify($2, id::text) from (
			select id from person_sessions where person_id = $1
			union all select id from api_keys where person_id = $1 and revoked_at is null) credentials`, person, channel)
	return err
}

func wakeAgent(ctx context.Context, tx *sqlx.Tx, agent uuid.UUID) error {
	_, err := exec(ctx, tx, `select pg_notify($2, id::text) from api_keys where agent_id = $1 and revoked_at is null`, agent, channel)
	return err
}

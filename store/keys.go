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

// CreateKey implements identity.Store.
func (db *DB) CreateKey(ctx context.Context, k environment.Key, hash []byte, most int, a environment.Activity) error {
	return db.tx(ctx, "create a key", func(tx *sqlx.Tx) error {
		if err := roomForKey(ctx, tx, k, most); err != nil {
			return err
		}
		_, err := exec(ctx, tx, `
			insert into api_keys (id, person_id, agent_id, name, hash, hint, created_at, created_by, expires_at)
			values ($1, $2, $3, $4, $5, $6, coalesce($7, now()), $8, $9)`,
			k.ID, k.PersonID, k.AgentID, clean(k.Name), hash, clean(k.Hint), orNow(k.CreatedAt), clean(k.CreatedBy), k.ExpiresAt)
		if err != nil {
			return err
		}
		return record(ctx, tx, a)
	})
}

// roomForKey refuses a key beyond the most that a holder may have. It holds the
// holder's row, so that another server does not make one at the same time.
func roomForKey(ctx context.Context, tx *sqlx.Tx, k environment.Key, most int) error {
	table, column, holder := "people", "person_id", k.PersonID
	if holder == nil {
		table, column, holder = "agents", "agent_id", k.AgentID
	}
	if _, err := exec(ctx, tx, `select 1 from `+table+` where id = $1 for no key update`, holder); err != nil {
		return err
	}
	var n int
	err := tx.GetContext(ctx, &n, `
		select count(*) from api_keys
		where `+column+` = $1 and revoked_at is null and (expires_at is null or expires_at > now())`, holder)
	if err == nil && n >= most {
		return identity.TooManyKeys(most)
	}
	return err
}

// KeysOfPerson implements identity.Store: the newest first, revoked ones too.
func (db *DB) KeysOfPerson(ctx context.Context, person uuid.UUID) ([]environment.Key, error) {
	return db.keys(ctx, "person_id", person)
}

// KeysOfAgent implements identity.Store likewise.
func (db *DB) KeysOfAgent(ctx context.Context, agent uuid.UUID) ([]environment.Key, error) {
	return db.keys(ctx, "agent_id", agent)
}

func (db *DB) keys(ctx context.Context, holder string, id uuid.UUID) ([]environment.Key, error) {
	all := []environment.Key{}
	err := db.list(ctx, "list keys", &all, `
		select id, person_id, agent_id, name, hint, created_at, created_by, last_used_at, expires_at, revoked_at from api_keys
		where `+holder+` = $1 order by created_at desc, id desc`, id)
	for i, k := range all {
		all[i].CreatedAt, all[i].LastUsedAt = k.CreatedAt.UTC(), utc(k.LastUsedAt)
		all[i].ExpiresAt, all[i].RevokedAt = utc(k.ExpiresAt), utc(k.RevokedAt)
	}
	return all, err
}

// RevokeKey implements identity.Store. The second time records nothing.
func (db *DB) RevokeKey(ctx context.Context, holder, id uuid.UUID, a environment.Activity) error {
	return db.tx(ctx, "revoke a key", func(tx *sqlx.Tx) error {
		var revoked bool
		err := tx.GetContext(ctx, &revoked, `
			select revoked_at is not null from api_keys where id = $1 and $2 in (person_id, agent_id) for no key update`, id, holder)
		if errors.Is(err, sql.ErrNoRows) {
			return environment.NotFound("key")
		}
		if err != nil || revoked {
			return err
		}
		if _, err := exec(ctx, tx, `update api_keys set revoked_at = now() where id = $1`, id); err != nil {
			return err
		}
		if err := wake(ctx, tx, id); err != nil {
			return err
		}
		return record(ctx, tx, a)
	})
}

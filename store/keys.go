package store

import (
	"context"
	"database/sql"
	"errors"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// CreateKey implements identity.Store.
func (db *DB) CreateKey(ctx context.Context, k environment.Key, hash []byte, a environment.Activity) error {
	return db.tx(ctx, "create a key", func(tx *sqlx.Tx) error {
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

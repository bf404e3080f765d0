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

const (
	linkColumns = `id, kind, email, person_id, instance_admin, roles, created_by, created_at, expires_at, used_at, revoked_at`
	linkIsOpen  = `used_at is null and revoked_at is null and expires_at > now()`
)

// linkLock is the advisory lock under which one link at a time is made. Whoever
// holds it waits for rows of links, and nobody who holds one of those for it.
const linkLock = 0x626572746c6e6b // "bertlnk"

type linkRow struct {
	environment.Link
	RolesDoc stored `db:"roles"`
	Expired  bool   `db:"expired"`
}

func (r linkRow) domain() (environment.Link, error) {
	l := r.Link
	l.CreatedAt, l.ExpiresAt, l.UsedAt, l.RevokedAt = l.CreatedAt.UTC(), l.ExpiresAt.UTC(), utc(l.UsedAt), utc(l.RevokedAt)
	l.Roles = map[uuid.UUID]environment.Role{}
	return l, r.RolesDoc.into(&l.Roles)
}

// CreateLink implements identity.Store.
func (db *DB) CreateLink(ctx context.Context, l environment.Link, hash []byte, a environment.Activity) error {
	return db.tx(ctx, "create a link", func(tx *sqlx.Tx) error {
		email := clean(l.Email)
		// Two made at the same time would each not see the other, and both stay open.
		if _, err := exec(ctx, tx, `select pg_advisory_xact_lock($1)`, int64(linkLock)); err != nil {
			return err
		}
		_, err := exec(ctx, tx, `
			update one_time_links set revoked_at = now()
			where (kind = $1 and email_key = $2 or person_id = $3::uuid) and `+linkIsOpen,
			string(l.Kind), environment.NameKey(email), l.PersonID)
		if err != nil {
			return err
		}
		if l.Roles == nil {
			l.Roles = map[uuid.UUID]environment.Role{}
		}
		_, err = exec(ctx, tx, `
			insert into one_time_links (id, kind, hash, email, email_key, person_id, instance_admin, roles, created_by, created_at, expires_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce($10, now()), $11)`,
			l.ID, string(l.Kind), hash, email, environment.NameKey(email), l.PersonID, l.InstanceAdmin, document{l.Roles},
			clean(l.CreatedBy), orNow(l.CreatedAt), l.ExpiresAt)
		if err != nil {
			return err
		}
		return record(ctx, tx, a)
	})
}

// Link implements identity.Store.
func (db *DB) Link(ctx context.Context, hash []byte) (environment.Link, error) {
	var r linkRow
	err := db.get(ctx, "find a link", &r, `select `+linkColumns+` from one_time_links where hash = $1`, hash)
	if errors.Is(err, sql.ErrNoRows) {
		return environment.Link{}, identity.LinkNotFound()
	}
	if err != nil {
		return environment.Link{}, err
	}
	return r.domain()
}

// Links implements identity.Store: the newest first.
func (db *DB) Links(ctx context.Context) ([]environment.Link, error) {
	var rows []linkRow
	err := db.list(ctx, "list links", &rows, `
		select `+linkColumns+` from one_time_links where `+linkIsOpen+` order by created_at desc, id desc`)
	if err != nil {
		return nil, err
	}
	return domains[environment.Link](rows)
}

// RevokeLink implements identity.Store. One that is not open any more stays as it
// is, and nothing is recorded.
func (db *DB) RevokeLink(ctx context.Context, id uuid.UUID, a environment.Activity) error {
	return db.tx(ctx, "revoke a link", func(tx *sqlx.Tx) error {
		n, err := exec(ctx, tx, `select 1 from one_time_links where id = $1 for no key update`, id)
		if err == nil && n == 0 {
			return identity.LinkNotFound()
		}
		if err != nil {
			return err
		}
		n, err = exec(ctx, tx, `update one_time_links set revoked_at = now() where id = $1 and `+linkIsOpen, id)
		if err != nil || n == 0 {
			return err
		}
		return record(ctx, tx, a)
	})
}

// revokeLinksOf revokes the open links of a person.
func revokeLinksOf(ctx context.Context, tx *sqlx.Tx, person uuid.UUID) error {
	_, err := exec(ctx, tx, `update one_time_links set revoked_at = now() where person_id = $1 and `+linkIsOpen, person)
	return err
}

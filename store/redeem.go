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

// Redeem implements identity.Store.
func (db *DB) Redeem(ctx context.Context, hash []byte, p environment.Person, passwordHash string, a environment.Activity) (environment.Person, error) {
	var made environment.Person
	err := db.tx(ctx, "redeem a link", func(tx *sqlx.Tx) error {
		l, err := openLink(ctx, tx, hash)
		if err != nil {
			return err
		}
		if _, err := exec(ctx, tx, `update one_time_links set used_at = now() where id = $1`, l.ID); err != nil {
			return err
		}
		id := p.ID
		switch {
		case l.PersonID != nil:
			id = *l.PersonID
			err = setPassword(ctx, tx, id, passwordHash, nil)
		case l.Kind == environment.LinkFirstAdmin:
			if err = mayBeFirst(ctx, tx); err == nil {
				l.Email = p.Email
				err = insertPerson(ctx, tx, p, l, passwordHash)
			}
		default:
			err = insertPerson(ctx, tx, p, l, passwordHash)
		}
		if err != nil {
			return err
		}
		if made, err = personIn(ctx, tx, id); err != nil {
			return err
		}
		return record(ctx, tx, a)
	})
	return made, err
}

// openLink finds a link and holds its row, so that nobody else uses it at the same
// time; it refuses one that is not open.
func openLink(ctx context.Context, tx *sqlx.Tx, hash []byte) (environment.Link, error) {
	var r linkRow
	err := tx.GetContext(ctx, &r, `
		select `+linkColumns+`, expires_at <= now() as expired from one_time_links where hash = $1 for update`, hash)
	if errors.Is(err, sql.ErrNoRows) {
		return environment.Link{}, identity.LinkNotFound()
	}
	if err != nil {
		return environment.Link{}, err
	}
	if why := identity.WhyClosed(r.Link, r.Expired); why != "" {
		return environment.Link{}, identity.LinkUsed(why)
	}
	return r.domain()
}

// mayBeFirst refuses a first admin when there is an admin, and keeps another from
// becoming one until tx ends.
func mayBeFirst(ctx context.Context, tx *sqlx.Tx) error {
	if err := holdAdmins(ctx, tx); err != nil {
		return err
	}
	var exists bool
	err := tx.GetContext(ctx, &exists, `select `+adminBut("$1"), uuid.Nil)
	if err == nil && exists {
		return identity.AdminExists()
	}
	return err
}

// insertPerson makes a person with a link's address and rights. A company that is
// gone since gives no role.
func insertPerson(ctx context.Context, tx *sqlx.Tx, p environment.Person, l environment.Link, hash string) error {
	name, email := clean(p.Name), clean(l.Email)
	_, err := exec(ctx, tx, `
		insert into people (id, email, email_key, name, name_key, password_hash, instance_admin, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $7, coalesce($8, now()), coalesce($8, now()))`,
		p.ID, email, environment.NameKey(email), name, environment.NameKey(name), hash,
		l.InstanceAdmin || l.Kind == environment.LinkFirstAdmin, orNow(p.CreatedAt))
	if err != nil {
		return err
	}
	for company, role := range l.Roles {
		_, err := exec(ctx, tx, `
			insert into memberships (person_id, company_id, role) select $1, id, $3 from companies where id = $2`, p.ID, company, string(role))
		if err != nil {
			return err
		}
	}
	return nil
}

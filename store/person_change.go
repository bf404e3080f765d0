package store

import (
	"context"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// UpdatePerson implements identity.Store. The links with which somebody who is
// disabled could set a password are revoked, too.
func (db *DB) UpdatePerson(ctx context.Context, id uuid.UUID, p identity.PersonPatch, a environment.Activity) (environment.Person, error) {
	var changed environment.Person
	err := db.tx(ctx, "change a person", func(tx *sqlx.Tx) error {
		disabled := p.Disabled != nil && *p.Disabled
		if disabled || p.InstanceAdmin != nil && !*p.InstanceAdmin {
			if err := mayLoseAdmin(ctx, tx, id); err != nil {
				return err
			}
		}
		if disabled {
			// Before the person's row: whoever redeems a link takes them in this order.
			if err := revokeLinksOf(ctx, tx, id); err != nil {
				return err
			}
		}
		if err := updatePerson(ctx, tx, id, p); err != nil {
			return err
		}
		if err := wakePerson(ctx, tx, id); err != nil {
			return err
		}
		if disabled {
			if _, err := exec(ctx, tx, `delete from person_sessions where person_id = $1`, id); err != nil {
				return err
			}
		}
		var err error
		if changed, err = personIn(ctx, tx, id); err != nil {
			return err
		}
		return record(ctx, tx, a)
	})
	return changed, err
}

// mayLoseAdmin refuses to take away the last instance admin who may sign in, and
// keeps two who take each other away from both succeeding.
func mayLoseAdmin(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) error {
	if err := holdAdmins(ctx, tx); err != nil {
		return err
	}
	var last bool
	err := tx.GetContext(ctx, &last, `
		select exists (select 1 from people where id = $1 and instance_admin and disabled_at is null) and not `+adminBut("$1"), id)
	if err == nil && last {
		return identity.LastAdmin()
	}
	return err
}

func updatePerson(ctx context.Context, tx *sqlx.Tx, id uuid.UUID, p identity.PersonPatch) error {
	var nameKey, emailKey *string
	if p.Name = cleanPtr(p.Name); p.Name != nil {
		key := environment.NameKey(*p.Name)
		nameKey = &key
	}
	if p.Email = cleanPtr(p.Email); p.Email != nil {
		key := environment.NameKey(*p.Email)
		emailKey = &key
	}
	n, err := exec(ctx, tx, `
		update people set name = coalesce($2, name), name_key = coalesce($3, name_key), email = coalesce($4, email),
			email_key = coalesce($5, email_key), instance_admin = coalesce($6, instance_admin),
			disabled_at = case when $7::boolean then coalesce(disabled_at, now()) when not $7::boolean then null else disabled_at end,
			updated_at = now()
		where id = $1`, id, p.Name, nameKey, p.Email, emailKey, p.InstanceAdmin, p.Disabled)
	if err == nil && n == 0 {
		return environment.NotFound("person")
	}
	return err
}

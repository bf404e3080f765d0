package store

import (
	"context"

	"berth/environment"
	"berth/environment/secrets"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// Secrets implements secrets.Store.
func (db *DB) Secrets(ctx context.Context, company uuid.UUID, search string, limit int, after string) (environment.Page[environment.StoredSecret], error) {
	page := environment.Page[environment.StoredSecret]{}
	c, err := readCursor(after, "secrets", 1)
	if err != nil {
		return page, err
	}
	var q query
	q.add(`select `, secretColumns, `, name_key as key from secrets where retired_at is null and company_id = `, q.arg(company))
	if text := environment.NameKey(clean(search)); text != "" {
		q.add(" and strpos(name_key, ", q.arg(text), ") > 0")
	}
	if c != nil {
		q.add(" and (name_key, id) > (", q.arg(c.Keys[0]), ", ", q.arg(c.ID), ")")
	}
	size := pageSize(limit)
	q.add(" order by name_key, id limit ", q.arg(size+1))
	var rows []struct {
		environment.StoredSecret
		Key string `db:"key"`
	}
	if err := db.page(ctx, "list secrets", &rows, &q, c); err != nil {
		return page, err
	}
	if len(rows) > size {
		rows = rows[:size]
		page.Next = cursor{Order: "secrets", Keys: []string{rows[size-1].Key}, ID: rows[size-1].ID}.String()
	}
	page.Items = make([]environment.StoredSecret, 0, len(rows))
	for _, r := range rows {
		page.Items = append(page.Items, secretInUTC(r.StoredSecret))
	}
	return page, nil
}

// SharedSecret implements secrets.Store.
func (db *DB) SharedSecret(ctx context.Context, id uuid.UUID) (environment.StoredSecret, error) {
	var s environment.StoredSecret
	err := db.get(ctx, "read a company's secret", &s, `select `+secretColumns+` from secrets where id = $1 and company_id is not null`, id)
	return secretInUTC(s), missing(err, "secret")
}

// SecretVersions implements secrets.Store.
func (db *DB) SecretVersions(ctx context.Context, id uuid.UUID) ([]environment.SecretVersion, error) {
	all := []environment.SecretVersion{}
	err := db.list(ctx, "list versions of a secret", &all, `
		select id, secret_id, version, created_at, created_by from secret_versions where secret_id = $1 order by version desc`, id)
	for i := range all {
		all[i].CreatedAt = all[i].CreatedAt.UTC()
	}
	return all, err
}

// SecretBindings implements secrets.Store.
func (db *DB) SecretBindings(ctx context.Context, id uuid.UUID) ([]environment.SecretBinding, error) {
	all := []environment.SecretBinding{}
	err := db.list(ctx, "list what refers to a secret", &all, bindingsOfSecret, id)
	return all, err
}

const bindingsOfSecret = `select ` + bindingColumns + ` from secret_bindings b join environments e on e.id = b.environment_id
	where b.secret_id = $1 order by e.name_key, e.id, b.config_path collate "C"`

// CreateSecret implements secrets.Store.
func (db *DB) CreateSecret(ctx context.Context, s environment.SealedSecret, a environment.Activity) error {
	return db.tx(ctx, "create a secret", func(tx *sqlx.Tx) error {
		if err := insertSecret(ctx, tx, s); err != nil {
			return err
		}
		return record(ctx, tx, a)
	})
}

// sharedIn reads a company's secret within a transaction and locks its row: no
// reference to it comes in between.
func sharedIn(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) (environment.StoredSecret, error) {
	var s environment.StoredSecret
	err := tx.GetContext(ctx, &s, `select `+secretColumns+` from secrets where id = $1 and company_id is not null for update`, id)
	return secretInUTC(s), missing(err, "secret")
}

// AddSecretVersion implements secrets.Store.
func (db *DB) AddSecretVersion(ctx context.Context, v environment.SecretVersion, a environment.Activity) (environment.StoredSecret, error) {
	var made environment.StoredSecret
	err := db.tx(ctx, "rotate a secret", func(tx *sqlx.Tx) error {
		s, err := sharedIn(ctx, tx, v.SecretID)
		if err != nil {
			return err
		}
		if s.LatestVersion != v.Version-1 {
			return environment.Conflict("secret_changed", "Somebody gave this secret a new value meanwhile.").Remedy("Load it again.")
		}
		_, err = exec(ctx, tx, `
			insert into secret_versions (id, secret_id, version, ciphertext, created_by, created_at)
			values ($1, $2, $3, $4, $5, coalesce($6, now()))`, v.ID, v.SecretID, v.Version, v.Ciphertext, clean(v.CreatedBy), orNow(v.CreatedAt))
		if err != nil {
			return err
		}
		if _, err := exec(ctx, tx, `
			update secrets set latest_version = $2, updated_at = coalesce($3, now()) where id = $1`, s.ID, v.Version, orNow(v.CreatedAt)); err != nil {
			return err
		}
		if made, err = sharedIn(ctx, tx, s.ID); err != nil {
			return err
		}
		if err := wantTests(ctx, tx, s.ID, "latest"); err != nil {
			return err
		}
		if err := revokeForSecret(ctx, tx, s.ID, "latest", a.ActorName); err != nil {
			return err
		}
		return record(ctx, tx, a)
	})
	return made, err
}

// wantTests marks the environments that refer to a secret as changed since their
// last test: only those that refer to version, unless that is "".
func wantTests(ctx context.Context, tx *sqlx.Tx, secret uuid.UUID, version string) error {
	var ids []uuid.UUID
	err := tx.SelectContext(ctx, &ids, `
		select e.id from environments e
		where exists (select 1 from secret_bindings b where b.environment_id = e.id and b.secret_id = $1 and ($2 = '' or b.version = $2))
		order by e.id for no key update`, secret, version)
	if err != nil || len(ids) == 0 {
		return err
	}
	// A probe of no revision that is saved tells nothing of what is saved now.
	_, err = exec(ctx, tx, `
		update probes p set config_revision = 0 from environments e
		where e.id = any($1) and p.environment_id = e.id and not p.draft and (p.id = e.last_probe_id or p.state in ('queued', 'running'))`, idTexts(ids))
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := refreshHealth(ctx, tx, id); err != nil {
			return err
		}
	}
	return bump(ctx, tx)
}

// UpdateSecret implements secrets.Store.
func (db *DB) UpdateSecret(ctx context.Context, id uuid.UUID, p secrets.Patch, a environment.Activity) (environment.StoredSecret, error) {
	var made environment.StoredSecret
	err := db.tx(ctx, "change a secret", func(tx *sqlx.Tx) error {
		s, err := sharedIn(ctx, tx, id)
		if err != nil {
			return err
		}
		wasDisabled := s.Disabled
		p.Apply(&s)
		if err := renameable(ctx, tx, s); err != nil {
			return err
		}
		_, err = exec(ctx, tx, `
			update secrets set name = $2, name_key = $3, description = $4, disabled = $5, updated_at = coalesce($6, now()) where id = $1`,
			id, clean(s.Name), environment.NameKey(clean(s.Name)), cleanPtr(s.Description), s.Disabled, orNow(a.CreatedAt))
		if err != nil {
			return err
		}
		if s.Disabled != wasDisabled {
			if err := wantTests(ctx, tx, id, ""); err != nil {
				return err
			}
		}
		if s.Disabled && !wasDisabled {
			if err := revokeForSecret(ctx, tx, id, "", a.ActorName); err != nil {
				return err
			}
		}
		if made, err = sharedIn(ctx, tx, id); err != nil {
			return err
		}
		return record(ctx, tx, a)
	})
	return made, err
}

// renameable refuses a name that another secret of the company has.
func renameable(ctx context.Context, tx *sqlx.Tx, s environment.StoredSecret) error {
	if _, err := exec(ctx, tx, `select 1 from companies where id = $1 for no key update`, *s.CompanyID); err != nil {
		return err
	}
	var taken bool
	err := tx.GetContext(ctx, &taken, `select exists (select 1 from secrets where company_id = $1 and name_key = $2 and id <> $3)`,
		*s.CompanyID, environment.NameKey(clean(s.Name)), s.ID)
	if err == nil && taken {
		return environment.SecretNameTaken(s.Name)
	}
	return err
}

// DeleteSecret implements secrets.Store.
func (db *DB) DeleteSecret(ctx context.Context, id uuid.UUID, a environment.Activity) error {
	return db.tx(ctx, "delete a secret", func(tx *sqlx.Tx) error {
		s, err := sharedIn(ctx, tx, id)
		if err != nil {
			return err
		}
		var uses []environment.SecretBinding
		if err := tx.SelectContext(ctx, &uses, bindingsOfSecret, id); err != nil {
			return err
		}
		var held bool
		if err := tx.GetContext(ctx, &held, `select `+heldByLease+` from secrets s where s.id = $1`, id); err != nil {
			return err
		}
		if len(uses) > 0 || held {
			return secrets.InUse(s, uses)
		}
		if _, err := exec(ctx, tx, `delete from secrets where id = $1`, id); err != nil {
			return err
		}
		return record(ctx, tx, a)
	})
}

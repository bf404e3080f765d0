package store

import (
	"context"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// Companies implements catalogue.Store: by name.
func (db *DB) Companies(ctx context.Context) ([]environment.Company, error) {
	all := []environment.Company{}
	err := db.list(ctx, "list companies", &all, `select id, name, created_at, updated_at from companies order by name_key`)
	for i := range all {
		all[i] = inUTC(all[i])
	}
	return all, err
}

// CompaniesOf implements catalogue.Store: by name.
func (db *DB) CompaniesOf(ctx context.Context, ids []uuid.UUID) ([]environment.Company, error) {
	all := []environment.Company{}
	err := db.list(ctx, "list some companies", &all, `
		select id, name, created_at, updated_at from companies where id = any($1::uuid[]) order by name_key`, idArray(ids))
	for i := range all {
		all[i] = inUTC(all[i])
	}
	return all, err
}

// Company implements catalogue.Store and running.Store.
func (db *DB) Company(ctx context.Context, id uuid.UUID) (environment.Company, error) {
	var c environment.Company
	err := db.get(ctx, "read a company", &c, `select id, name, created_at, updated_at from companies where id = $1`, id)
	return inUTC(c), missing(err, "company")
}

func inUTC(c environment.Company) environment.Company {
	c.CreatedAt, c.UpdatedAt = c.CreatedAt.UTC(), c.UpdatedAt.UTC()
	return c
}

// CreateCompany implements catalogue.Store.
func (db *DB) CreateCompany(ctx context.Context, c environment.Company, a environment.Activity) error {
	return db.tx(ctx, "create a company", func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `
			insert into companies (id, name, name_key, created_at, updated_at)
			values ($1, $2, $3, coalesce($4, now()), coalesce($5, now()))`,
			c.ID, c.Name, environment.NameKey(c.Name), orNow(c.CreatedAt), orNow(c.UpdatedAt))
		if err != nil {
			return err
		}
		if err := record(ctx, tx, a); err != nil {
			return err
		}
		return bump(ctx, tx)
	})
}

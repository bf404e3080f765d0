package store

import (
	"context"
	"fmt"

	"berth/environment"

	"github.com/jmoiron/sqlx"
)

// EnsureLocal implements catalogue.Store. Two servers that do this at once find
// each other's row: what the other inserted first lets this one's be.
func (db *DB) EnsureLocal(ctx context.Context, row environment.Environment, asDefault bool) (environment.Environment, error) {
	var made environment.Environment
	err := db.tx(ctx, "ensure the local environment", func(tx *sqlx.Tx) error {
		id, found, err := local(ctx, tx)
		if err != nil {
			return err
		}
		if !found {
			if err := insertLocal(ctx, tx, row, asDefault); err != nil {
				return err
			}
			if id, found, err = local(ctx, tx); err != nil || !found {
				return fmt.Errorf("the local environment is not there after it was made: %w", err)
			}
		}
		made, err = environmentIn(ctx, tx, id)
		return err
	})
	return made, err
}

func insertLocal(ctx context.Context, tx *sqlx.Tx, row environment.Environment, asDefault bool) error {
	for _, row.Name = range localNames(row.Name) {
		inserted, err := insertEnvironment(ctx, tx, row, "on conflict do nothing")
		if err != nil {
			return err
		}
		if _, found, err := local(ctx, tx); err != nil || !found {
			if err != nil {
				return err
			}
			continue // an environment of another driver has the name
		}
		if !inserted {
			return nil // another server was first
		}
		if asDefault {
			_, err = exec(ctx, tx, `
				update instance set default_environment_id = $1, revision = revision + 1, updated_at = now()
				where default_environment_id is null`, row.ID)
			if err != nil {
				return err
			}
		}
		return bump(ctx, tx)
	}
	return environment.Conflict(environment.CodeNameTaken, "No name is free for the local environment.")
}

// localNames are those that the local environment may get, best first.
func localNames(name string) []string {
	names := []string{name, name + " (this server)"}
	for n := 2; n < 20; n++ {
		names = append(names, fmt.Sprintf("%s (this server %d)", name, n))
	}
	return names
}

package store

import (
	"context"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// ManagedEnvironment implements catalogue.Store and running.Store.
func (db *DB) ManagedEnvironment(ctx context.Context) (environment.EnvironmentView, error) {
	return db.view(ctx, "read the managed sandbox", `e.managed`)
}

// SetManagedProvider implements catalogue.Store.
func (db *DB) SetManagedProvider(ctx context.Context, provider string, a environment.Activity) error {
	return db.tx(ctx, "note the managed sandbox's provider", func(tx *sqlx.Tx) error {
		n, err := exec(ctx, tx, `update instance set managed_provider = $1 where managed_provider <> $1`, clean(provider))
		if err != nil || n == 0 {
			return err
		}
		if err := record(ctx, tx, a); err != nil {
			return err
		}
		return bump(ctx, tx)
	})
}

// ReferredVersions implements catalogue.Store.
func (db *DB) ReferredVersions(ctx context.Context, refs ...environment.SecretRef) (map[environment.SecretRef]uuid.UUID, error) {
	found := make(map[environment.SecretRef]uuid.UUID, len(refs))
	if len(refs) == 0 {
		return found, nil
	}
	ids, versions := make([]uuid.UUID, len(refs)), make([]string, len(refs))
	for i, ref := range refs {
		ids[i], versions[i] = ref.SecretID, clean(ref.Version)
	}
	var rows []struct {
		Place int       `db:"place"`
		ID    uuid.UUID `db:"id"`
	}
	err := db.list(ctx, "read to which versions references lead", &rows, `
		select r.place, v.id
		from unnest($1::uuid[], $2::text[]) with ordinality as r (secret_id, version, place)
		join secrets s on s.id = r.secret_id
		join secret_versions v on v.secret_id = s.id
			and v.version::text = case when r.version in ('', 'latest') then s.latest_version::text else r.version end`,
		idArray(ids), pq.Array(versions))
	for _, r := range rows {
		found[refs[r.Place-1]] = r.ID
	}
	return found, err
}

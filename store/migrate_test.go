package store_test

import (
	"database/sql"
	"sync"
	"testing"

	"berth/environment"
	"berth/environment/example"
	"berth/migrations"
	"berth/store/storetest"

	"github.com/pressly/goose/v3"
)

func TestC81_TwoServersStartAtOnceOnAnEmptyDatabase(t *testing.T) {
	address := storetest.EmptyURL(t)
	var both sync.WaitGroup
	ids := make([]string, 2)
	for i := range ids {
		db := storetest.Open(t, address)
		both.Go(func() {
			if err := db.Migrate(t.Context()); err != nil {
				t.Errorf("migrate at once with another server: %v", err)
				return
			}
			local := example.Local().Environment
			local.ID = environment.NewID()
			got, err := db.EnsureLocal(t.Context(), local, true)
			if err != nil {
				t.Errorf("make the local environment at once with another server: %v", err)
			}
			ids[i] = got.ID.String()
		})
	}
	both.Wait()
	if ids[0] != ids[1] {
		t.Errorf("local environments of two servers: got %v, want one", ids)
	}
	page, err := storetest.Open(t, address).ListEnvironments(t.Context(), environment.ListFilter{})
	if err != nil || len(page.Items) != 1 || !page.Items[0].IsDefault {
		t.Errorf("environments after a double start: got %+v, %v, want one, the default", page.Items, err)
	}
}

func TestMigrateAgainChangesNothing(t *testing.T) {
	db := storetest.New(t)
	saved(t, db)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Environment(t.Context(), example.Local().ID); err != nil {
		t.Errorf("environment after a second migration: %v", err)
	}
}

func TestSchemaOfANewerBerthIsRefused(t *testing.T) {
	address := storetest.URL(t)
	storetest.Exec(t, address, `insert into goose_db_version (version_id, is_applied) values (9999, true)`)
	err := storetest.Open(t, address).Migrate(t.Context())
	if environment.CodeOf(err) != "schema_newer" {
		t.Errorf("migrate a newer schema: got %v, want schema_newer", err)
	}
}

func TestMigrationsGoDownAndUp(t *testing.T) {
	address := storetest.URL(t)
	db, err := sql.Open("postgres", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	steps, err := goose.NewProvider(goose.DialectPostgres, db, migrations.Files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	saved(t, storetest.Open(t, address))
	if _, err := steps.DownTo(t.Context(), 0); err != nil {
		t.Fatalf("down on a filled database: %v", err)
	}
	if _, err := steps.Up(t.Context()); err != nil {
		t.Fatalf("up again: %v", err)
	}
}

func TestKeysetIsBoundOnce(t *testing.T) {
	db := storetest.New(t)
	for _, c := range []struct{ fingerprint, code string }{{"aaaa", ""}, {"aaaa", ""}, {"bbbb", "keyset_mismatch"}, {"aaaa", ""}} {
		err := db.BindKeyset(t.Context(), c.fingerprint)
		if got := environment.CodeOf(err); got != c.code {
			t.Errorf("bind keyset %s: got %q, want %q", c.fingerprint, got, c.code)
		}
	}
}

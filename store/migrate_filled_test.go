package store_test

import (
	"database/sql"
	"log/slog"
	"testing"

	"berth/environment"
	"berth/environment/environmenttest"
	"berth/environment/running"
	"berth/migrations"
	"berth/store"
	"berth/store/storetest"

	"github.com/pressly/goose/v3"
)

// TestMigrateFilledDatabaseOfBeforePeople brings the schema of version 0.2 with
// data in it up to date: what was there is there, and its secrets still open.
func TestMigrateFilledDatabaseOfBeforePeople(t *testing.T) {
	address := storetest.EmptyURL(t)
	old, err := sql.Open("postgres", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Close() }()
	steps, err := goose.NewProvider(goose.DialectPostgres, old, migrations.Files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := steps.UpTo(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	keys := environmenttest.Vault{}
	owned, shared := environment.NewID(), environment.NewID()
	company, box, run := environment.NewID(), environment.NewID(), environment.NewID()
	sealed, err := keys.Seal(owned, environment.NewSecret("owned canary"))
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range []struct {
		statement string
		args      []any
	}{
		{`insert into companies (id, name, name_key) values ($1, 'Acme', 'acme')`, []any{company}},
		{`insert into environments (id, name, name_key, driver) values ($1, 'box', 'box', 'ssh')`, []any{box}},
		{`insert into secrets (id, environment_id, name, ciphertext) values ($1, $2, 'config.password', $3)`, []any{owned, box, sealed}},
		{`insert into secrets (id, company_id, name, ciphertext, disabled) values ($1, $2, 'token', '\x01', true)`, []any{shared, company}},
		{`insert into activity (id, actor_kind, actor_name, action, entity_type, entity_id)
			values ($1, 'local_operator', 'Local Operator', 'environment.created', 'environment', $2)`, []any{environment.NewID(), box.String()}},
		{`insert into runs (id, company_id, environment_id, environment_name, driver, target, kind, command, timeout_sec, status, owner, actor_name)
			values ($1, $2, $3, 'box', 'ssh', 'box:22', 'command', '["true"]', 60, 'succeeded', $1, 'local operator')`, []any{run, company, box}},
	} {
		storetest.Exec(t, address, do.statement, do.args...)
	}
	db := storetest.Open(t, address)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatalf("migrate a filled database: %v", err)
	}
	s, version, err := db.Secret(t.Context(), owned, "latest")
	if err != nil || s.EnvironmentID == nil || *s.EnvironmentID != box || version.Version != 1 {
		t.Fatalf("an owned secret: got %+v, %+v, %v", s, version, err)
	}
	if got, err := keys.Open(version.ID, version.Ciphertext); err != nil || got.Reveal() != "owned canary" {
		t.Errorf("an owned secret opened: got %q, %v", got.Reveal(), err)
	}
	if s, _, err := db.Secret(t.Context(), shared, "1"); err != nil || !s.Disabled || s.CompanyID == nil {
		t.Errorf("a shared secret: got %+v, %v", s, err)
	}
	log, err := db.Activity(t.Context(), environment.ActivityFilter{Actor: "LOCAL op"})
	if err != nil || len(log.Items) != 1 || log.Items[0].ActorID != nil {
		t.Errorf("activity of before: got %+v, %v", log.Items, err)
	}
	runs, err := db.Runs(t.Context(), running.Filter{CompanyID: &company})
	if err != nil || len(runs.Items) != 1 || runs.Items[0].AgentID != nil {
		t.Errorf("runs of before: got %+v, %v", runs.Items, err)
	}
	down(t, steps)
	again, err := store.Open(t.Context(), address, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	if err := again.Migrate(t.Context()); err != nil {
		t.Fatalf("migrate again: %v", err)
	}
	if _, version, err := again.Secret(t.Context(), owned, ""); err != nil || string(version.Ciphertext) != string(sealed) {
		t.Errorf("a secret after down and up: got %+v, %v", version, err)
	}
}

// down goes back to the schema of version 0.2.
func down(t *testing.T, steps *goose.Provider) {
	t.Helper()
	if _, err := steps.DownTo(t.Context(), 3); err != nil {
		t.Fatalf("down on a filled database: %v", err)
	}
}

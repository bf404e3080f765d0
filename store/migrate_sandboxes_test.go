package store_test

import (
	"database/sql"
	"testing"

	"berth/environment"
	"berth/environment/leasing"
	"berth/environment/running"
	"berth/migrations"
	"berth/store/storetest"

	"github.com/pressly/goose/v3"
)

// TestMigrateFilledDatabaseOfBeforeSandboxes brings a schema without sandboxes up
// to date, down and up again: leases say where they were, and clean-ups that wait
// are still waited for.
func TestMigrateFilledDatabaseOfBeforeSandboxes(t *testing.T) {
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
	if _, err := steps.UpTo(t.Context(), 6); err != nil {
		t.Fatal(err)
	}
	company, box, run, probe := environment.NewID(), environment.NewID(), environment.NewID(), environment.NewID()
	over, waiting, active := environment.NewID(), environment.NewID(), environment.NewID()
	for _, do := range []struct {
		statement string
		args      []any
	}{
		{`insert into companies (id, name, name_key) values ($1, 'Acme', 'acme')`, []any{company}},
		{`insert into environments (id, name, name_key, driver) values ($1, 'box', 'box', 'ssh')`, []any{box}},
		{`insert into runs (id, company_id, environment_name, driver, target, kind, command, timeout_sec, status, owner, actor_name)
			values ($1, $2, 'deleted box', 'ssh', 'box:22', 'command', '["true"]', 60, 'succeeded', $1, 'local operator')`, []any{run, company}},
		{`insert into probes (id, environment_id, draft, driver, target, state, config_revision, actor_name, owner, deadline)
			values ($1, $2, false, 'ssh', 'box:22', 'done', 1, 'local operator', $1, now())`, []any{probe, box}},
		{`insert into environment_leases (id, company_id, run_id, owner_kind, status, lease_policy, driver, provider, owner, released_at)
			values ($1, $2, $3, 'run', 'released', 'ephemeral', 'ssh', 'ssh', $1, now())`, []any{over, company, run}},
		{`insert into environment_leases (id, company_id, environment_id, owner_kind, status, lease_policy, driver, provider, owner, metadata)
			values ($1, $2, $3, 'run', 'pending_cleanup', 'ephemeral', 'ssh', 'ssh', $1,
				'{"note": 1, "cleanup": {"attempts": 4, "error": "connection_lost", "outcome": "released", "nextAt": "2026-01-01T00:00:00Z"}}')`,
			[]any{waiting, company, box}},
		{`insert into environment_leases (id, company_id, environment_id, owner_kind, status, lease_policy, driver, provider, owner)
			values ($1, $2, $3, 'run', 'active', 'ephemeral', 'ssh', 'ssh', $1)`, []any{active, company, box}},
	} {
		storetest.Exec(t, address, do.statement, do.args...)
	}
	db := storetest.Open(t, address)
	for _, name := range []string{"up", "down and up again"} {
		if name != "up" {
			if _, err := steps.DownTo(t.Context(), 6); err != nil {
				t.Fatalf("down on a filled database: %v", err)
			}
		}
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatalf("%s: migrate a filled database: %v", name, err)
		}
		if l, err := db.Lease(t.Context(), over); err != nil || l.EnvironmentName != "deleted box" || l.TTLSec != 120 || l.RetainSec != 86400 {
			t.Errorf("%s: a lease that ended: got %+v, %v", name, l, err)
		}
		if u, err := db.Usage(t.Context(), box); err != nil || u.ActiveLeases != 1 {
			t.Errorf("%s: used: got %+v, %v, want one lease", name, u, err)
		}
		if page, err := db.Runs(t.Context(), running.Filter{}); err != nil || len(page.Items) != 1 || page.Items[0].Native || page.Items[0].Provider != "" {
			t.Errorf("%s: runs: got %+v, %v", name, page.Items, err)
		}
		if p, err := db.Probe(t.Context(), probe); err != nil || p.Image != nil || p.Qualification != nil || p.Proves != "" {
			t.Errorf("%s: a probe: got %+v, %v", name, p, err)
		}
		if page, err := db.Leases(t.Context(), leasing.Filter{Held: true}); err != nil || len(page.Items) != 2 {
			t.Errorf("%s: leases that hold something: got %+v, %v, want two", name, page.Items, err)
		}
		claimed, err := db.ClaimCleanups(t.Context(), environment.NewID(), 5, 1)
		if err != nil || len(claimed) != 1 || claimed[0].EnvironmentName != "box" {
			t.Fatalf("%s: clean-ups that wait: got %+v, %v, want one", name, claimed, err)
		}
		if l := claimed[0]; name == "up" && (l.CleanupAttempts != 4 || l.CleanupError == nil || *l.CleanupError != "connection_lost" ||
			l.CleanupOutcome != environment.LeaseReleased || string(l.Metadata) != `{"note": 1}`) {
			t.Errorf("a clean-up of before: got %+v", l)
		}
	}
}

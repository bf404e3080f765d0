package store_test

import (
	"testing"

	"berth/environment"
	"berth/store"
	"berth/store/storetest"
)

// filled is a database with that many environments, ten leases for each and a
// hundred probes.
func filled(b *testing.B, environments int) *store.DB {
	b.Helper()
	address := storetest.URL(b)
	for _, statement := range []string{
		`insert into companies (id, name, name_key) values ('00000000-0000-7000-8000-000000000001', 'acme', 'acme')`,
		`insert into environments (id, name, name_key, driver, config, search, updated_at)
			select gen_random_uuid(), 'box ' || n, 'box ' || n, 'ssh',
				jsonb_build_object('host', 'h' || n || '.example.net', 'port', 22, 'username', 'deploy', 'remoteWorkspacePath', '/srv/work'),
				'box ' || n || E'\nssh\nh' || n || '.example.net', now() - n * interval '1 second'
			from generate_series(1, $1::integer) n`,
		`insert into environment_leases (id, company_id, environment_id, owner_kind, status, lease_policy, driver, provider, owner)
			select gen_random_uuid(), '00000000-0000-7000-8000-000000000001', e.id, 'run', 'released', 'ephemeral', 'ssh', 'ssh', gen_random_uuid()
			from environments e, generate_series(1, 10) where $1::integer > 0`,
		`insert into probes (id, environment_id, draft, driver, target, state, ok, health, stages, config_revision, actor_name, owner,
				created_at, started_at, finished_at, deadline)
			select gen_random_uuid(), e.id, false, 'ssh', 'deploy@h:22', 'done', true, 'ready',
				(select jsonb_agg(jsonb_build_object('name', 'stage ' || s, 'status', 'ok', 'code', '', 'severity', 'info', 'message',
					'It went as it should, as far as one can tell.', 'measured', '{"a": 1}'::jsonb, 'limit', '{}'::jsonb, 'startedAt', null,
					'durationMs', 12, 'remediation', '')) from generate_series(1, 3) s),
				1, 'local operator', gen_random_uuid(), now() - n * interval '1 minute', now(), now(), now()
			from environments e, generate_series(1, 100) n where $1::integer > 0`,
		`update environments e set health = 'ready', tested_at = now(), recent = '[{"at": "2026-01-01T00:00:00Z", "ok": true, "durationMs": 150}]',
			last_probe_id = (select p.id from probes p where p.environment_id = e.id order by created_at desc, id desc limit 1)
			where $1::integer > 0`,
	} {
		storetest.ExecSlowly(b, address, statement, argsOf(statement, environments)...)
	}
	storetest.ExecSlowly(b, address, `vacuum analyze`)
	return storetest.Open(b, address)
}

func argsOf(statement string, environments int) []any {
	for i := range len(statement) - 1 {
		if statement[i:i+2] == "$1" {
			return []any{environments}
		}
	}
	return nil
}

// BenchmarkList reads a page of 200 environments in each order, from a small
// and from a large catalogue: the times are to be about the same.
func BenchmarkList(b *testing.B) {
	for name, n := range map[string]int{"small": 200, "large": 10000} {
		db := filled(b, n)
		for _, sort := range []string{"updated", "name", "health", "driver", "tested"} {
			b.Run(name+"/"+sort, func(b *testing.B) {
				for b.Loop() {
					page, err := db.ListEnvironments(b.Context(), environment.ListFilter{Sort: sort, Limit: 200})
					if err != nil || len(page.Items) != 200 {
						b.Fatalf("got %d environments, %v", len(page.Items), err)
					}
				}
			})
		}
		b.Run(name+"/search", func(b *testing.B) {
			for b.Loop() {
				if _, err := db.ListEnvironments(b.Context(), environment.ListFilter{Query: "h199.", Limit: 200}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/revision", func(b *testing.B) {
			for b.Loop() {
				if _, err := db.CatalogueRevision(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

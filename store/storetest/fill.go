package storetest

import (
	"strings"
	"testing"
)

// FilledCompany is the company of Fill.
const FilledCompany = "00000000-0000-7000-8000-000000000001"

// Fill makes that many environments in an empty, migrated database, a third of
// them sandboxes, and for each ten leases and a hundred probes. Of the leases most
// have ended, over the last months; in a tenth of the environments one is active,
// one is kept and one waits for its clean-up.
func Fill(t testing.TB, url string, environments int) {
	t.Helper()
	for _, statement := range []string{
		`insert into companies (id, name, name_key) values ('` + FilledCompany + `', 'acme', 'acme')`,
		fillEnvironments, fillLeases, fillProbes,
		`update environments e set health = 'ready', tested_at = now(), recent = '[{"at": "2026-01-01T00:00:00Z", "ok": true, "durationMs": 150}]',
			last_probe_id = (select p.id from probes p where p.environment_id = e.id order by created_at desc, id desc limit 1)`,
	} {
		if strings.Contains(statement, "$1") {
			ExecSlowly(t, url, statement, environments)
			continue
		}
		ExecSlowly(t, url, statement)
	}
	ExecSlowly(t, url, `vacuum analyze`)
}

const fillEnvironments = `
	insert into environments (id, name, name_key, driver, config, search, updated_at)
	select gen_random_uuid(), 'box ' || n, 'box ' || n, case when n % 3 = 0 then 'sandbox' else 'ssh' end,
		case when n % 3 = 0 then jsonb_build_object('provider', 'docker', 'image', 'registry.example.net/team/app' || n || ':1', 'memoryMiB', 512)
			else jsonb_build_object('host', 'h' || n || '.example.net', 'port', 22, 'username', 'deploy', 'remoteWorkspacePath', '/srv/work') end,
		'box ' || n || E'\nssh\nh' || n || '.example.net', now() - n * interval '1 second'
	from generate_series(1, $1::integer) n`

const fillLeases = `
	with made as (
		select e.id as env, e.name, e.driver, e.config, n,
			case when hashtext(e.name) % 10 <> 0 or n > 3 then 'released' when n = 1 then 'active' when n = 2 then 'retained' else 'pending_cleanup' end as status,
			now() - (n - 1) * interval '9 days' - (abs(hashtext(e.name)) % 80000) * interval '1 second' as at
		from environments e, generate_series(1, 10) n)
	insert into environment_leases (id, company_id, environment_id, environment_name, owner_kind, status, lease_policy, driver, provider, owner, ref,
		acquired_at, last_used_at, created_at, updated_at, used_from, used_until, released_at, expires_at, cleanup_next_at)
	select gen_random_uuid(), '` + FilledCompany + `', env, name, 'run', status, 'ephemeral', driver,
		case when driver = 'sandbox' then 'docker' else 'ssh' end, gen_random_uuid(),
		jsonb_build_object('driver', driver, 'providerId', md5(env::text || n), 'config', config, 'host', jsonb_build_object('name', 'h', 'bootId', md5(name))),
		at, at, at, at, at, case when status <> 'active' then at + interval '1 minute' end,
		case when status = 'released' then at + interval '1 minute' end,
		case when status in ('active', 'retained') then now() + interval '1 hour' end,
		case when status = 'pending_cleanup' then now() + interval '1 hour' end
	from made`

const fillProbes = `
	insert into probes (id, environment_id, draft, driver, target, state, ok, health, stages, config_revision, actor_name, owner,
		created_at, started_at, finished_at, deadline)
	select gen_random_uuid(), e.id, false, e.driver, 'deploy@h:22', 'done', true, 'ready',
		(select jsonb_agg(jsonb_build_object('name', 'stage ' || s, 'status', 'ok', 'code', '', 'severity', 'info', 'message',
			'It went as it should, as far as one can tell.', 'measured', '{"a": 1}'::jsonb, 'limit', '{}'::jsonb, 'startedAt', null,
			'durationMs', 12, 'remediation', '')) from generate_series(1, 3) s),
		1, 'local operator', gen_random_uuid(), now() - n * interval '1 minute', now(), now(), now()
	from environments e, generate_series(1, 100) n`

-- +goose Up
create table environments (
  id              uuid primary key,
  name            text not null,
  name_key        text collate "C" not null constraint environments_name_key unique,
  description     text,
  driver          text collate "C" not null,
  status          text not null default 'active'
                  constraint environments_status check (status in ('active', 'archived', 'maintenance')),
  config          jsonb not null default '{}',
  env_vars        jsonb not null default '{}',
  metadata        jsonb,
  revision        integer not null default 1,
  config_revision integer not null default 1,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  -- What follows is derived, and written in the transaction that changes its
  -- source, so that a list costs the same whatever the history.
  search          text not null default '',
  last_probe_id   uuid,
  recent          jsonb not null default '[]',
  runs            bigint not null default 0,
  health          text collate "C" not null default 'untested',
  health_rank     smallint not null generated always as (case health
                    when 'untrusted' then 0 when 'unfit' then 1 when 'unreachable' then 2 when 'interrupted' then 3
                    when 'changed' then 4 when 'warning' then 5 when 'untested' then 6 when 'testing' then 7
                    when 'ready' then 8 else 9 end) stored,
  tested_at       timestamptz not null default '-infinity'
);
create unique index environments_one_local on environments (driver) where driver = 'local';
create index environments_newest on environments (updated_at desc, id desc);
create index environments_by_health on environments (health_rank, name_key, id);
create index environments_by_driver on environments (driver, name_key, id);
create index environments_by_test on environments (tested_at desc, id desc);

alter table instance add constraint instance_default_environment
  foreign key (default_environment_id) references environments on delete set null;

create table secrets (
  id             uuid primary key,
  company_id     uuid references companies on delete cascade,
  environment_id uuid references environments on delete cascade,
  name           text not null,
  disabled       boolean not null default false,
  ciphertext     bytea not null,
  created_at     timestamptz not null default now()
);
create index secrets_of_environment on secrets (environment_id);
create index secrets_of_company on secrets (company_id);

create table probes (
  id              uuid primary key,
  environment_id  uuid references environments on delete cascade,
  company_id      uuid references companies on delete cascade,
  draft           boolean not null,
  driver          text not null,
  target          text not null,
  state           text not null constraint probes_state
                  check (state in ('queued', 'running', 'done', 'cancelled', 'interrupted')),
  ok              boolean not null default false,
  summary         text not null default '',
  code            text not null default '',
  health          text collate "C" not null default 'testing',
  stages          jsonb not null default '[]',
  remarks         jsonb not null default '[]',
  host            jsonb,
  platform        jsonb,
  presented       jsonb not null default '[]',
  trusted         jsonb not null default '[]',
  config_revision integer not null,
  actor_name      text not null,
  owner           uuid not null,
  cancel_asked_by text,
  created_at      timestamptz not null default now(),
  started_at      timestamptz,
  finished_at     timestamptz,
  deadline        timestamptz not null
);
create unique index probes_one_under_way on probes (environment_id)
  where not draft and state in ('queued', 'running');
create index probes_of_environment on probes (environment_id, created_at desc, id desc);
create index probes_of_company on probes (company_id);
create index probes_under_way on probes (owner) where state in ('queued', 'running');

alter table environments add constraint environments_last_probe
  foreign key (last_probe_id) references probes on delete set null;
create index environments_by_last_probe on environments (last_probe_id);

-- +goose Down
alter table environments drop constraint environments_last_probe;
alter table instance drop constraint instance_default_environment;
drop table probes;
drop table secrets;
drop table environments;

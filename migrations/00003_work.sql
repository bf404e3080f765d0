-- +goose Up
create table runs (
  id               uuid primary key,
  company_id       uuid not null constraint runs_company references companies on delete cascade,
  environment_id   uuid constraint runs_environment references environments on delete set null,
  environment_name text not null,
  driver           text not null,
  target           text not null,
  kind             text not null,
  title            text,
  command          jsonb not null,
  cwd              text,
  working_dir      text,
  env_names        jsonb not null default '[]',
  timeout_sec      integer not null,
  status           text not null constraint runs_status
                   check (status in ('queued', 'acquiring', 'preparing', 'running', 'cancelling',
                                     'succeeded', 'failed', 'cancelled', 'timed_out', 'lost')),
  exit_code        integer,
  signal           text,
  failure          jsonb,
  host             jsonb,
  phases           jsonb not null default '[]',
  process          jsonb,
  termination      text not null default '',
  lease_id         uuid,
  log_size         bigint not null default 0,
  log_cut          bigint not null default 0,
  stdout_size      bigint not null default 0,
  stderr_size      bigint not null default 0,
  owner            uuid not null,
  actor_name       text not null,
  cancel_by        text,
  created_at       timestamptz not null default now(),
  started_at       timestamptz,
  deadline         timestamptz,
  finished_at      timestamptz,
  input            bytea
);
create index runs_newest on runs (created_at desc, id desc);
create index runs_of_company on runs (company_id, created_at desc, id desc);
create index runs_of_environment on runs (environment_id, created_at desc, id desc);
create index runs_under_way on runs (environment_id, owner)
  where status in ('queued', 'acquiring', 'preparing', 'running', 'cancelling');

create table environment_leases (
  id                uuid primary key,
  company_id        uuid not null constraint leases_company references companies on delete cascade,
  environment_id    uuid constraint leases_environment references environments on delete set null,
  run_id            uuid,
  owner_kind        text not null,
  status            text not null constraint leases_status
                    check (status in ('acquiring', 'active', 'releasing', 'released', 'expired', 'failed',
                                      'retained', 'pending_cleanup')),
  lease_policy      text not null,
  driver            text not null,
  provider          text not null,
  provider_lease_id text,
  ref               jsonb,
  acquired_at       timestamptz not null default now(),
  last_used_at      timestamptz not null default now(),
  expires_at        timestamptz,
  released_at       timestamptz,
  failure_reason    text,
  cleanup_status    text,
  receipt           jsonb,
  metadata          jsonb,
  owner             uuid not null,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now()
) with (fillfactor = 70);
create index leases_newest on environment_leases (last_used_at desc, id desc);
create index leases_of_company on environment_leases (company_id, last_used_at desc, id desc);
create index leases_of_environment on environment_leases (environment_id, last_used_at desc, id desc);
create index leases_held on environment_leases (environment_id, owner)
  where status in ('acquiring', 'active', 'releasing', 'retained', 'pending_cleanup');

create table events (
  seq           bigint generated always as identity,
  subject       uuid not null,
  kind          text not null,
  payload       jsonb,
  stream        text,
  log_offset    bigint,
  stream_offset bigint,
  chunk         bytea,
  primary key (subject, seq)
);
-- Output is not compressed: that would cost more time than the disk is worth.
alter table events alter column chunk set storage external;
create index events_of_log on events (subject, log_offset) where kind = 'output';

-- +goose Down
drop table events;
drop table environment_leases;
drop table runs;

-- +goose Up
create table instance (
  only_row                    boolean primary key default true check (only_row),
  id                          uuid not null default gen_random_uuid(),
  keyset_fingerprint          text,
  catalogue_revision          bigint not null default 1,
  enable_environments         boolean not null default false,
  enable_managed_sandbox_only boolean not null default false,
  default_environment_id      uuid,
  max_run_timeout_sec         integer not null default 86400,
  revision                    integer not null default 1,
  updated_at                  timestamptz not null default now()
) with (fillfactor = 20);
insert into instance default values;

create table servers (
  id         uuid primary key,
  node       uuid not null,
  version    text not null,
  started_at timestamptz not null default now(),
  beat_at    timestamptz not null default now(),
  retired_at timestamptz
) with (fillfactor = 50);
create index servers_by_node on servers (node) where retired_at is null;

create table companies (
  id         uuid primary key,
  name       text not null,
  name_key   text collate "C" not null constraint companies_name_key unique,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table activity (
  id          uuid primary key,
  company_id  uuid references companies on delete cascade,
  actor_kind  text not null,
  actor_name  text not null,
  action      text not null,
  entity_type text not null,
  entity_id   text not null,
  details     jsonb not null default '{}',
  request_id  text not null default '',
  created_at  timestamptz not null default now()
);
create index activity_newest on activity (created_at desc, id desc);
create index activity_of_entity on activity (entity_type, entity_id, created_at desc, id desc);
create index activity_of_company on activity (company_id, created_at desc, id desc);

-- +goose Down
drop table activity;
drop table companies;
drop table servers;
drop table instance;

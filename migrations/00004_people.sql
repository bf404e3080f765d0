-- +goose Up
create table people (
  id             uuid primary key,
  email          text not null,
  email_key      text collate "C" not null constraint people_email_key unique,
  name           text not null,
  name_key       text collate "C" not null,
  password_hash  text not null, -- argon2id, PHC string
  instance_admin boolean not null default false,
  disabled_at    timestamptz,
  last_seen_at   timestamptz,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now()
);
create index people_by_name on people (name_key, id);

create table memberships (
  person_id  uuid not null references people on delete cascade,
  company_id uuid not null constraint memberships_company references companies on delete cascade,
  role       text not null constraint memberships_role check (role in ('owner', 'admin', 'member')),
  created_at timestamptz not null default now(),
  primary key (person_id, company_id)
);
create index memberships_of_company on memberships (company_id);

-- A browser's session. Its cookie's data is in cookie_sessions, which names this
-- row: without it the cookie is worth nothing.
create table person_sessions (
  id           uuid primary key,
  person_id    uuid not null references people on delete cascade,
  created_at   timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at   timestamptz not null,
  address      text not null default '',
  user_agent   text not null default ''
);
create index person_sessions_of_person on person_sessions (person_id);

create table cookie_sessions (
  token  text collate "C" primary key, -- hash of the cookie
  data   bytea not null,
  expiry timestamptz not null
);
create index cookie_sessions_expiry on cookie_sessions (expiry);

create table agents (
  id                     uuid primary key,
  company_id             uuid not null constraint agents_company references companies on delete cascade,
  name                   text not null,
  name_key               text collate "C" not null,
  adapter_type           text not null,
  status                 text not null default 'active' constraint agents_status check (status in ('active', 'disabled')),
  default_environment_id uuid constraint agents_default_environment references environments on delete restrict,
  created_at             timestamptz not null default now(),
  updated_at             timestamptz not null default now(),
  constraint agents_name_key unique (company_id, name_key)
);
create index agents_of_environment on agents (default_environment_id);

-- Bearer credentials: a person's API tokens, an agent's keys.
create table api_keys (
  id           uuid primary key,
  person_id    uuid references people on delete cascade,
  agent_id     uuid references agents on delete cascade,
  name         text not null,
  hash         bytea not null constraint api_keys_hash unique, -- SHA-256
  hint         text not null,
  created_at   timestamptz not null default now(),
  created_by   text not null,
  last_used_at timestamptz,
  expires_at   timestamptz,
  revoked_at   timestamptz,
  constraint api_keys_one_holder check ((person_id is null) <> (agent_id is null))
);
create index api_keys_of_person on api_keys (person_id);
create index api_keys_of_agent on api_keys (agent_id);

create table one_time_links (
  id             uuid primary key,
  kind           text not null constraint one_time_links_kind check (kind in ('first_admin', 'invitation', 'password_reset')),
  hash           bytea not null constraint one_time_links_hash unique,
  email          text not null default '',
  email_key      text collate "C" not null default '',
  person_id      uuid references people on delete cascade,
  instance_admin boolean not null default false,
  roles          jsonb not null default '{}', -- company id to role
  created_by     text not null,
  created_at     timestamptz not null default now(),
  expires_at     timestamptz not null,
  used_at        timestamptz,
  revoked_at     timestamptz
);
create index one_time_links_open on one_time_links (kind, email_key) where used_at is null and revoked_at is null;
create index one_time_links_of_person on one_time_links (person_id);

-- Failed sign-ins, by account and by address, so that every server slows down.
create table sign_in_failures (
  key        text collate "C" primary key, -- "account:<hash>" or "address:<ip>"
  failures   integer not null,
  first_at   timestamptz not null default now(),
  last_at    timestamptz not null default now(),
  wait_until timestamptz not null default now()
);

alter table activity
  add column actor_id uuid,
  add column actor_key text not null default ''; -- the name in lower case, to search in
update activity set actor_key = lower(actor_name);
create index activity_of_actor on activity (actor_id, created_at desc, id desc);

alter table runs add column agent_id uuid constraint runs_agent references agents on delete set null;
create index runs_of_agent on runs (agent_id, created_at desc, id desc);

-- +goose Down
alter table runs drop column agent_id;
alter table activity drop column actor_id, drop column actor_key;
drop table sign_in_failures;
drop table one_time_links;
drop table api_keys;
drop table agents;
drop table cookie_sessions;
drop table person_sessions;
drop table memberships;
drop table people;

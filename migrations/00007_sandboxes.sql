-- +goose Up
alter table environments
  add column managed boolean not null default false,
  add column budget  jsonb;
create unique index environments_one_managed on environments (managed) where managed;

alter table instance add column managed_provider text not null default '';

alter table runs
  add column native   boolean not null default false,
  add column provider text not null default '';

alter table probes
  add column image         jsonb,
  add column qualification jsonb,
  add column lease_id      uuid,
  add column proves        text not null default '';

alter table environment_leases
  add column environment_name    text not null default '',
  add column agent_id            uuid,
  add column workspace_id        uuid,
  add column adapter_type        text,
  add column heartbeat_at        timestamptz not null default now(),
  add column ttl_sec             integer not null default 120 check (ttl_sec > 0),
  add column retain_sec          integer not null default 86400 check (retain_sec > 0),
  add column scope_key           text collate "C",
  add column object_key          text collate "C",
  add column resumes             uuid,
  add column acquisition         text,
  add column acquisition_reason  text,
  add column cleanup_attempts    integer not null default 0,
  add column cleanup_next_at     timestamptz,
  add column cleanup_error       text,
  add column cleanup_outcome     text not null default '',
  add column cleanup_claim_until timestamptz,
  add column dead_letter_at      timestamptz,
  add column provider_gone_at    timestamptz,
  -- How long it was in use, by the database's clock; until is null while it is.
  add column used_from           timestamptz not null default now(),
  add column used_until          timestamptz;
update environment_leases l set
  environment_name = coalesce((select e.name from environments e where e.id = l.environment_id),
                              (select r.environment_name from runs r where r.id = l.run_id), ''),
  used_from        = acquired_at,
  used_until       = case when status not in ('acquiring', 'active', 'releasing') then coalesce(released_at, last_used_at) end,
  cleanup_attempts = coalesce((metadata #>> '{cleanup,attempts}')::integer, 0),
  cleanup_error    = metadata #>> '{cleanup,error}',
  cleanup_outcome  = coalesce(metadata #>> '{cleanup,outcome}', ''),
  metadata         = metadata - 'cleanup';
-- A sandbox has one holder, and a scope one lease; a host is shared and has neither.
create unique index leases_one_holder_of_object on environment_leases (object_key)
  where object_key is not null and status in ('active', 'releasing');
create unique index leases_one_holder_of_scope on environment_leases (scope_key)
  where scope_key is not null and status in ('acquiring', 'active', 'releasing');
-- A stopped sandbox is picked up by one at a time.
create unique index leases_one_resumer on environment_leases (resumes)
  where resumes is not null and status = 'acquiring';
create index leases_retained on environment_leases (environment_id) where status = 'retained';
create index leases_to_clean on environment_leases (cleanup_next_at nulls first) where status = 'pending_cleanup';
-- What an environment used today, whatever its history.
create index leases_of_day on environment_leases (environment_id, used_until) include (used_from) where used_until is not null;
-- Commands are nearly all; what else there is is found without going through them.
create index leases_of_kind on environment_leases (owner_kind, last_used_at desc, id desc) where owner_kind <> 'run';
-- expires_at is in no index, so that a beat writes none: what is held is few.

create table qualifications (
  environment_id   uuid not null references environments on delete cascade,
  company_id       uuid not null references companies on delete cascade,
  status           text not null constraint qualifications_status check (status in ('valid', 'revoked')),
  provider         text not null,
  provider_version text not null default '',
  fingerprint      text not null,
  template_id      uuid,
  image            jsonb not null,
  platform         jsonb not null,
  probe_id         uuid not null,
  lease_id         uuid not null,
  provider_id      text not null,
  receipt          jsonb not null,
  measured_at      timestamptz not null,
  revoked_at       timestamptz,
  revoked_by       text not null default '',
  revoked_for      text not null default '',
  primary key (environment_id, company_id)
);
create index qualifications_of_company on qualifications (company_id);

-- Nothing expires for a while after this: nobody could say that it was in use.
create function database_started() returns timestamptz language sql stable as 'select pg_postmaster_start_time()';

-- +goose Down
drop function database_started();
drop table qualifications;
drop index leases_of_kind, leases_of_day, leases_to_clean, leases_retained, leases_one_resumer, leases_one_holder_of_scope, leases_one_holder_of_object;
alter table environment_leases
  drop column environment_name, drop column agent_id, drop column workspace_id, drop column adapter_type, drop column heartbeat_at,
  drop column ttl_sec, drop column retain_sec, drop column scope_key, drop column object_key, drop column resumes,
  drop column acquisition, drop column acquisition_reason, drop column cleanup_attempts, drop column cleanup_next_at,
  drop column cleanup_error, drop column cleanup_outcome, drop column cleanup_claim_until, drop column dead_letter_at,
  drop column provider_gone_at, drop column used_from, drop column used_until;
alter table probes drop column image, drop column qualification, drop column lease_id, drop column proves;
alter table runs drop column native, drop column provider;
alter table instance drop column managed_provider;
drop index environments_one_managed;
alter table environments drop column managed, drop column budget;

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
  add column provider_gone_at    timestamptz;
-- A sandbox has one holder, and a scope one lease; a host is shared and has neither.
create unique index leases_one_holder_of_object on environment_leases (object_key)
  where object_key is not null and status in ('active', 'releasing');
create unique index leases_one_holder_of_scope on environment_leases (scope_key)
  where scope_key is not null and status in ('acquiring', 'active', 'releasing');
-- A stopped sandbox is picked up by one at a time.
create unique index leases_one_resumer on environment_leases (resumes)
  where resumes is not null and status = 'acquiring';
create index leases_retained on environment_leases (environment_id) where status = 'retained';
create index leases_to_clean on environment_leases (cleanup_next_at) where status = 'pending_cleanup';
create index leases_expiring on environment_leases (expires_at) where status in ('acquiring', 'active', 'retained');
-- What an environment used today, whatever its history.
create index leases_of_day on environment_leases (environment_id, acquired_at desc);

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

-- +goose Down
drop table qualifications;
drop index leases_of_day, leases_expiring, leases_to_clean, leases_retained, leases_one_resumer, leases_one_holder_of_scope, leases_one_holder_of_object;
alter table environment_leases
  drop column environment_name, drop column agent_id, drop column workspace_id, drop column adapter_type, drop column heartbeat_at,
  drop column ttl_sec, drop column retain_sec, drop column scope_key, drop column object_key, drop column resumes,
  drop column acquisition, drop column acquisition_reason, drop column cleanup_attempts, drop column cleanup_next_at,
  drop column cleanup_error, drop column cleanup_outcome, drop column cleanup_claim_until, drop column dead_letter_at,
  drop column provider_gone_at;
alter table probes drop column image, drop column qualification, drop column lease_id, drop column proves;
alter table runs drop column native, drop column provider;
alter table instance drop column managed_provider;
drop index environments_one_managed;
alter table environments drop column managed, drop column budget;

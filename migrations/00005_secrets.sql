-- +goose Up
alter table secrets
  add column name_key       text collate "C", -- of a company's secret: unique in it
  add column description    text,
  add column latest_version integer not null default 1,
  add column created_by     text not null default '',
  add column updated_at     timestamptz not null default now(),
  -- An owned secret that nothing refers to any more stays until the last lease of
  -- its owner is clean; it then opens for cleanup only.
  add column retired_at     timestamptz;

create table secret_versions (
  id         uuid primary key, -- what the ciphertext is bound to
  secret_id  uuid not null references secrets on delete cascade,
  version    integer not null check (version > 0),
  ciphertext bytea not null,
  created_at timestamptz not null default now(),
  created_by text not null default '',
  unique (secret_id, version)
);
insert into secret_versions (id, secret_id, version, ciphertext, created_at)
  select id, id, 1, ciphertext, created_at from secrets;
alter table secrets drop column ciphertext;

-- The owner of a secret may go before the secret does.
alter table secrets drop constraint secrets_environment_id_fkey;
-- A company's secret belongs to a company and to nothing else.
alter table secrets add constraint secrets_one_owner check (company_id is null or environment_id is null);
create unique index secrets_name_key on secrets (company_id, name_key) where company_id is not null;
create index secrets_retired on secrets (retired_at) where retired_at is not null;

-- What refers to a company's secret. Rows of an environment are written with it.
create table secret_bindings (
  environment_id uuid not null references environments on delete cascade,
  config_path    text not null, -- "config.privateKey", "envVars.NAME"
  secret_id      uuid not null constraint secret_bindings_secret references secrets on delete restrict,
  company_id     uuid not null references companies on delete cascade,
  version        text not null, -- "latest" or a number
  primary key (environment_id, config_path)
);
create index secret_bindings_of_secret on secret_bindings (secret_id);
create index secret_bindings_of_company on secret_bindings (company_id);

-- Who opened what, for which purpose.
create table secret_accesses (
  id            uuid primary key,
  secret_id     uuid not null references secrets on delete cascade,
  version       integer not null,
  environment_id uuid,
  company_id    uuid,
  config_path   text not null,
  purpose       text not null, -- "run", "probe", "draft", "cleanup"
  run_id        uuid,
  probe_id      uuid,
  actor_name    text not null,
  outcome       text not null, -- "opened" or a code
  at            timestamptz not null default now()
);
create index secret_accesses_of_secret on secret_accesses (secret_id, at desc, id desc);

-- What the ciphertexts of keys begin with that were turned over: such a value is
-- refused, so that none is written under a key that is about to be dropped. A writer
-- holds the lock shared until it commits; whoever turns the key over waits for it.
alter table instance add column keyset_refused bytea[] not null default '{}';
-- +goose StatementBegin
create function refuse_old_seal() returns trigger language plpgsql as $$
declare
  refused bytea[];
  sealed bytea;
begin
  if tg_table_name = 'runs' then sealed := new.input; else sealed := new.ciphertext; end if;
  perform pg_advisory_xact_lock_shared(4812005);
  select keyset_refused into refused from instance;
  if exists (select 1 from unnest(refused) mark where substring(sealed from 1 for length(mark)) = mark) then
    raise exception 'sealed with a key that was turned over' using errcode = 'BK001';
  end if;
  return new;
end $$;
-- +goose StatementEnd
create trigger secret_versions_seal before insert or update of ciphertext on secret_versions
  for each row execute function refuse_old_seal();
create trigger runs_seal_new before insert on runs
  for each row when (new.input is not null) execute function refuse_old_seal();
create trigger runs_seal before update of input on runs
  for each row when (new.input is not null and new.input is distinct from old.input) execute function refuse_old_seal();

-- +goose Down
drop trigger runs_seal on runs;
drop trigger runs_seal_new on runs;
drop trigger secret_versions_seal on secret_versions;
drop function refuse_old_seal();
alter table instance drop column keyset_refused;
drop table secret_accesses;
drop table secret_bindings;
alter table secrets add column ciphertext bytea;
update secrets s set ciphertext = v.ciphertext from secret_versions v where v.secret_id = s.id and v.version = s.latest_version;
delete from secrets where ciphertext is null or retired_at is not null;
alter table secrets alter column ciphertext set not null;
drop table secret_versions;
drop index secrets_name_key;
alter table secrets drop constraint secrets_one_owner;
alter table secrets drop column name_key, drop column description, drop column latest_version, drop column created_by,
  drop column updated_at, drop column retired_at;
delete from secrets s where environment_id is not null and not exists (select 1 from environments e where e.id = s.environment_id);
alter table secrets add constraint secrets_environment_id_fkey foreign key (environment_id) references environments on delete cascade;

-- +goose Up
-- What a sweep looks for: drafts' probes by their end.
create index probes_of_drafts on probes (finished_at) where draft and finished_at is not null;

-- What runs left on a target that was out of reach at their end. A server that
-- owns a row is at it now; nobody's rows are tried again at next_at.
create table run_remains (
  run_id   uuid primary key references runs on delete cascade,
  lease_id uuid not null,
  owner    uuid,
  tries    integer not null default 0,
  next_at  timestamptz not null default now(),
  until    timestamptz not null
);
create index run_remains_due on run_remains (next_at);

-- What a list of runs is searched for, in lower case: title, environment, command.
alter table runs add column search text not null default '';
update runs set search = lower(left(coalesce(title, '') || chr(10) || environment_name || chr(10) ||
  (select coalesce(string_agg(word, ' ' order by place), '') from jsonb_array_elements_text(command) with ordinality as w (word, place)), 4000));

-- +goose Down
alter table runs drop column search;
drop table run_remains;
drop index probes_of_drafts;

-- Fans who may not buy, and what operators did to the list.

create table blacklist (
  user_id   uuid primary key,
  -- Newest first, page by page; a fan who is listed anew is in front again.
  entry_id  uuid not null unique,
  reason    text not null,
  until     timestamptz,
  listed_by uuid not null,
  listed_at timestamptz not null
);

-- Who, why, when; never changed. Writers take turns (a lock on blacklist), so the highest id names the state of the list.
create table blacklist_changes (
  id      bigint generated always as identity primary key,
  user_id uuid not null,
  action  text not null check (action in ('list', 'lift')),
  reason  text,
  until   timestamptz,
  by      uuid not null,
  at      timestamptz not null
);
create index blacklist_changes_by_fan on blacklist_changes (user_id, id);

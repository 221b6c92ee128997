-- Matches, their sectors and the state of their sale.

create table matches (
  id                  uuid primary key,
  home                text not null,
  away                text not null,
  venue               text not null,
  kickoff_at          timestamptz not null,
  currency            text not null,
  max_tickets_per_fan integer not null check (max_tickets_per_fan between 1 and 20),
  queue_required      boolean not null,
  opens_at            timestamptz,
  sale_status         text not null check (sale_status in ('scheduled', 'open', 'paused', 'sold_out', 'closed')),
  pause_reason        text,
  processing_rate     integer not null check (processing_rate > 0),
  max_open_windows    integer not null check (max_open_windows >= 0),
  -- Who bought before may have more than the limit of today, and nothing is wrong with that (`cli verify` asks).
  limit_lowered_at    timestamptz,
  created_at          timestamptz not null default now(),
  cancelled_at        timestamptz,
  cancel_reason       text,
  -- Nobody sells a match that will not be played, whatever else goes wrong.
  constraint matches_cancelled_closed check (cancelled_at is null or sale_status = 'closed')
);
create index matches_by_kickoff on matches (kickoff_at, id);

create table sectors (
  id          uuid primary key,
  match_id    uuid not null references matches (id),
  name        text not null,
  kind        text not null check (kind in ('seated', 'standing')),
  gate        text,
  price_cents integer not null check (price_cents >= 0),
  capacity    integer not null check (capacity > 0),
  position    integer not null,
  constraint sectors_name_once unique (match_id, name)
);
create index sectors_by_match on sectors (match_id, position);

-- Seats and who has them; holds, orders, and the turns of the waiting room as the monolith knows them.

-- One row a place, so that a place can have one holder and no more. Standing places have no row and number. No index
-- carries what changes (status, holder, expiry): updates stay within their page (fillfactor 60, research/limits.md §2).
create table seats (
  id             uuid primary key,
  match_id       uuid not null,
  sector_id      uuid not null,
  row_label      text,
  number         integer,
  row_index      integer not null,
  x              real,
  y              real,
  rank           integer not null,
  status         text not null default 'available' check (status in ('available', 'held', 'sold', 'blocked')),
  reservation_id uuid,
  expires_at     timestamptz,
  constraint seats_held_until check ((status = 'held') = (expires_at is not null)),
  constraint seats_have_holder check ((status in ('held', 'sold')) = (reservation_id is not null))
) with (fillfactor = 60);
create index seats_by_sector on seats (sector_id, rank);
create index seats_by_match on seats (match_id);

create table purchase_windows (
  session_token text primary key,
  match_id      uuid not null,
  user_id       uuid not null,
  expires_at    timestamptz not null,
  ended_at      timestamptz,
  end_reason    text,
  created_at    timestamptz not null default now()
);
create index purchase_windows_by_fan on purchase_windows (match_id, user_id);

-- How far the monolith has read each match's event stream; its row is the lock of the reader.
create table queue_event_cursors (
  match_id uuid primary key,
  last_id  text not null
);

create table reservations (
  id            uuid primary key,
  match_id      uuid not null,
  sector_id     uuid not null,
  user_id       uuid not null,
  session_token text,
  status        text not null check (status in ('held', 'ordered', 'completed', 'expired', 'released')),
  quantity      integer not null check (quantity between 1 and 20),
  together      boolean not null,
  total_cents   integer not null,
  currency      text not null,
  expires_at    timestamptz not null,
  created_at    timestamptz not null default now(),
  ended_at      timestamptz
);
-- The limit per fan is counted here.
create index reservations_by_fan on reservations (match_id, user_id);
create index reservations_due on reservations (expires_at) where status in ('held', 'ordered');
create index reservations_by_window on reservations (session_token) where session_token is not null;

create table reservation_seats (
  reservation_id uuid not null references reservations (id),
  seat_id        uuid not null,
  position       integer not null,
  sector         text not null,
  row_label      text,
  number         integer,
  price_cents    integer not null,
  primary key (reservation_id, seat_id)
);

create sequence order_numbers;

create table orders (
  id             uuid primary key,
  number         text not null unique,
  match_id       uuid not null,
  reservation_id uuid not null unique references reservations (id),
  user_id        uuid not null,
  session_token  text,
  status         text not null check (status in ('awaiting_payment', 'completed', 'cancelled', 'refunded', 'expired')),
  total_cents    integer not null,
  currency       text not null,
  email          text not null,
  holders        jsonb not null,
  provider       text not null,
  intent_id      text unique,
  client_secret  text,
  confirm_url    text,
  created_at     timestamptz not null default now(),
  completed_at   timestamptz
);
create index orders_by_fan on orders (user_id, id);
create index orders_by_match on orders (match_id, id);
-- One order a window: the second one waits for the first to be paid or given up, and never comes after a paid one.
create unique index orders_one_a_window on orders (session_token)
  where session_token is not null and status in ('awaiting_payment', 'completed', 'refunded');

create table order_timeline (
  id       bigint generated always as identity primary key,
  order_id uuid not null references orders (id),
  at       timestamptz not null default clock_timestamp(),
  event    text not null
);
create index order_timeline_by_order on order_timeline (order_id, id);

-- Events of the payment provider that have taken effect; a repeat finds its row and does nothing.
create table payment_inbox (
  event_id    text primary key,
  type        text not null,
  intent_id   text,
  outcome     text not null,
  received_at timestamptz not null default now()
);

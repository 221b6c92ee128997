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
) with (fillfactor = 45);
-- A sector has each of its places once. Ranks never change, so selling does not touch this index.
create unique index seats_by_sector on seats (sector_id, rank);
create index seats_by_match on seats (match_id);

create table purchase_windows (
  session_token text collate "C" primary key,
  match_id      uuid not null,
  user_id       uuid not null,
  expires_at    timestamptz not null,
  ended_at      timestamptz,
  end_reason    text,
  created_at    timestamptz not null default now()
) with (fillfactor = 80);
create index purchase_windows_by_fan on purchase_windows (match_id, user_id);

-- How far the monolith has read each match's event stream; its row is the lock of the reader.
create table queue_event_cursors (
  match_id uuid primary key,
  last_id  text not null
);

-- Like the seats: no index of reservations and orders carries what changes while they are bought, so an update stays within
-- its page and touches no index. Under SERIALIZABLE whoever finds a row through an index has marked the whole page of that
-- index, and everybody who adds to the page meanwhile is a conflict: 184 checkouts at once needed 600 to 750 repetitions, and up
-- to 64 of them gave up. For the same reason there are no foreign keys between these tables, whose checks read the same pages;
-- their rows are written together, and `cli verify` looks whether they fit.
create table reservations (
  id            uuid primary key,
  match_id      uuid not null,
  sector_id     uuid not null,
  user_id       uuid not null,
  session_token text,
  status        text not null check (status in ('held', 'ordered', 'completed', 'expired', 'released')),
  -- In the order in which they were given; one sector, one price. A row a seat would cost another fifth of a hold.
  seat_ids      uuid[] not null,
  quantity      integer not null check (quantity between 1 and 20),
  sector        text not null,
  price_cents   integer not null,
  together      boolean not null,
  total_cents   integer not null,
  currency      text not null,
  expires_at    timestamptz not null,
  created_at    timestamptz not null default now(),
  ended_at      timestamptz,
  swept         boolean not null default false
) with (fillfactor = 60);
-- The scheduler looks at each reservation once, when its time has come; only then does a row leave this index.
create index reservations_due on reservations (expires_at) where not swept;
create index reservations_by_window on reservations (session_token) where session_token is not null;

-- Moves on whenever a fan gets seats of a match: who counted them before may not add to them after. It names the
-- reservations that may count, which saves reservations an index of their own. The fan comes first in the key: a new match
-- would put all of its buyers on one page.
create table fan_seats (
  match_id        uuid not null,
  user_id         uuid not null,
  revision        integer not null,
  reservation_ids uuid[] not null,
  primary key (user_id, match_id)
);

-- The seats of reservations one by one, for whoever reads.
create view reservation_seats as
  select r.id as reservation_id, l.seat_id, l.position, r.sector, s.row_label, s.number, r.price_cents
  from reservations r cross join unnest(r.seat_ids) with ordinality as l(seat_id, position) left join seats s on s.id = l.seat_id;

create sequence order_numbers;

-- An order grows once (its intent) and changes twice within a second: at 60 three of ten updates left their page, and with it
-- came an entry in each of six indexes.
create table orders (
  id             uuid primary key,
  number         text not null unique,
  match_id       uuid not null,
  reservation_id uuid not null unique,
  user_id        uuid not null,
  session_token  text,
  claims_window  boolean not null,
  status         text not null check (status in ('awaiting_payment', 'completed', 'cancelled', 'refunded', 'expired')),
  total_cents    integer not null,
  currency       text not null,
  email          text not null,
  holders        jsonb not null,
  provider       text not null,
  intent_id      text,
  client_secret  text,
  confirm_url    text,
  created_at     timestamptz not null default now(),
  completed_at   timestamptz,
  -- Of its tickets, one by one or all of them. An order paid too late has none: all of its money goes back, and both stay 0.
  refunded_tickets integer not null default 0,
  refunded_cents   integer not null default 0 check (refunded_cents between 0 and total_cents)
) with (fillfactor = 35);
create index orders_by_fan on orders (user_id, id);
create index orders_by_match on orders (match_id, id);
-- One order a window: the second one waits for the first to be paid or given up, and never comes after a paid one.
create unique index orders_one_a_window on orders (session_token) where claims_window;

-- Which order a payment at the provider is for.
create table order_intents (
  intent_id text primary key,
  order_id  uuid not null
);

create table order_timeline (
  id       bigint generated always as identity,
  order_id uuid not null,
  at       timestamptz not null default clock_timestamp(),
  event    text not null,
  primary key (order_id, id)
);

-- Events of the payment provider that have taken effect; a repeat finds its row and does nothing.
create table payment_inbox (
  event_id    text primary key,
  type        text not null,
  intent_id   text,
  outcome     text not null,
  received_at timestamptz not null default now(),
  -- As the provider told it: what `cli verify` compares with the order, since only the sandbox's books are ours to read.
  amount_cents bigint,
  currency     text
);

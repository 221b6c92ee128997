-- What every context needs: messages on their way out, and the keys of requests that had an effect.

create table outbox (
  id           uuid primary key,
  seq          bigint generated always as identity,
  destination  text not null,
  event        text not null,
  aggregate_id text,
  body         jsonb not null,
  -- messages that differ in their `job_id` and their `range` only: the relay may hand over many of them as one
  series       uuid,
  created_at   timestamptz not null default now(),
  available_at timestamptz not null default now(),
  attempts     integer not null default 0,
  last_error   text,
  parked_at    timestamptz
);
-- The relay's way in: what is due, oldest first, without what has been parked.
create index outbox_due on outbox (destination, seq) where parked_at is null;
-- Only a broadcast's rows are in it.
create index outbox_series on outbox (destination, seq) where parked_at is null and series is not null;
-- "Is there an earlier message of the same aggregate?" is asked for every row that is about to leave.
create index outbox_aggregate on outbox (aggregate_id, seq) where parked_at is null and aggregate_id is not null;

create table idempotency_keys (
  key         text collate "C" primary key,
  user_id     uuid not null,
  fingerprint text not null,
  status      integer,
  body        text,
  location    text,
  -- What the request made, where the answer can be told again from that: then it has no body, and costs a tenth less to keep.
  made        uuid,
  created_at  timestamptz not null default now()
);
-- Only the purge looks for the old ones; they lie together, and a block range costs the writers nothing.
create index idempotency_keys_age on idempotency_keys using brin (created_at);

-- Where partners are told of events. The secret signs what is sent, so it is kept as it is.
create table webhooks (
  id         uuid constraint webhooks_pkey primary key,
  url        text not null,
  events     text[] not null,
  secret     text not null,
  created_by uuid not null,
  created_at timestamptz not null default clock_timestamp(),
  deleted_at timestamptz
);

-- One row for each event and webhook. `number` is the order in which the events of one subject (an order, a match, …) are sent.
create table webhook_deliveries (
  id              uuid constraint webhook_deliveries_pkey primary key,
  number          bigint generated always as identity,
  webhook_id      uuid not null constraint webhook_deliveries_webhook_id_fkey references webhooks (id),
  event_id        uuid not null,
  type            text not null,
  subject_id      uuid not null,
  body            text not null,
  created_at      timestamptz not null,
  state           text not null default 'pending' constraint webhook_deliveries_state_check check (state in ('pending', 'delivered', 'failed')),
  attempts        integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  give_up_at      timestamptz not null default now() + interval '24 hours',
  last_status     integer,
  last_error      text,
  delivered_at    timestamptz,
  constraint webhook_deliveries_once unique (webhook_id, event_id)
);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at) where state = 'pending';
create index webhook_deliveries_in_order on webhook_deliveries (webhook_id, subject_id, number) where state = 'pending';
create index webhook_deliveries_by_webhook on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_failed on webhook_deliveries (webhook_id, id) where state = 'failed';
create index webhook_deliveries_by_time on webhook_deliveries (created_at);

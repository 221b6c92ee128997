-- The sandbox: a payment provider of our own for development and tests. With another provider both tables stay empty.

create table sandbox_intents (
  id            text primary key check (id ~ '^pi_[0-9A-Za-z]{24}$'),
  order_id      uuid not null constraint sandbox_intents_one_an_order unique,
  amount_cents  integer not null check (amount_cents >= 0),
  currency      text not null,
  status        text not null default 'requires_payment'
                check (status in ('requires_payment', 'failed', 'succeeded', 'canceled', 'refunded')),
  client_secret text not null,
  created_at    timestamptz not null default now()
) with (fillfactor = 45);

-- The key is the caller's: the same refund asked for again finds its row, and the money goes back once.
create table sandbox_refunds (
  key          text primary key,
  intent_id    text not null references sandbox_intents (id),
  amount_cents integer not null check (amount_cents > 0),
  created_at   timestamptz not null default now()
);
create index sandbox_refunds_by_intent on sandbox_refunds (intent_id);

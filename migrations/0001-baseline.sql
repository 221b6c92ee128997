-- The schema of 0.2.0 by subject. It equals the result of the files in before-baseline (tests/migrations compares them), which
-- databases of older versions have. libs/platform/src/postgres/migrate.ts says which of the two a database gets.
-- This file has landed: it is never edited. A change is a new migration.

---------------------------------------------------------------------------------------------------------------------------------
-- Matches, their sectors and the state of their sale
---------------------------------------------------------------------------------------------------------------------------------

create table matches (
  id                  uuid constraint matches_pkey primary key,
  home                text not null,
  away                text not null,
  venue               text not null,
  kickoff_at          timestamptz not null,
  currency            text not null,
  max_tickets_per_fan integer not null constraint matches_max_tickets_per_fan_check check (max_tickets_per_fan between 1 and 20),
  queue_required      boolean not null,
  opens_at            timestamptz,
  sale_status         text not null constraint matches_sale_status_check
                      check (sale_status in ('scheduled', 'open', 'paused', 'sold_out', 'closed')),
  pause_reason        text,
  processing_rate     integer not null constraint matches_processing_rate_check check (processing_rate > 0),
  max_open_windows    integer not null constraint matches_max_open_windows_check check (max_open_windows >= 0),
  -- Fans who bought before the limit was lowered may have more than it allows. `cli verify` accepts that.
  limit_lowered_at    timestamptz,
  created_at          timestamptz not null default now(),
  cancelled_at        timestamptz,
  cancel_reason       text,
  -- A cancelled match is never sold, even if the code is wrong.
  constraint matches_cancelled_closed check (cancelled_at is null or sale_status = 'closed')
);
create index matches_by_kickoff on matches (kickoff_at, id);

create table sectors (
  id          uuid constraint sectors_pkey primary key,
  match_id    uuid not null constraint sectors_match_id_fkey references matches (id),
  name        text not null,
  kind        text not null constraint sectors_kind_check check (kind in ('seated', 'standing')),
  gate        text,
  price_cents integer not null constraint sectors_price_cents_check check (price_cents >= 0),
  capacity    integer not null constraint sectors_capacity_check check (capacity > 0),
  position    integer not null,
  constraint sectors_name_once unique (match_id, name)
);
create index sectors_by_match on sectors (match_id, position);

-- The kick-offs that fans were reminded of. A match that is moved is reminded of again.
create table match_reminders (
  match_id   uuid not null,
  kickoff_at timestamptz not null,
  planned_at timestamptz not null default now(),
  constraint match_reminders_pkey primary key (match_id, kickoff_at)
);

---------------------------------------------------------------------------------------------------------------------------------
-- Seats, holds and the turns of the waiting room
---------------------------------------------------------------------------------------------------------------------------------

-- One row for each seat, so a seat has at most one holder. Standing places have no row label and number. No index contains a
-- column that changes (status, holder, expiry), so with free space in the page an update touches no index.
create table seats (
  id             uuid constraint seats_pkey primary key,
  match_id       uuid not null,
  sector_id      uuid not null,
  row_label      text,
  number         integer,
  row_index      integer not null,
  x              real,
  y              real,
  rank           integer not null,
  status         text not null default 'available' constraint seats_status_check
                 check (status in ('available', 'held', 'sold', 'blocked')),
  reservation_id uuid,
  expires_at     timestamptz,
  constraint seats_held_until check ((status = 'held') = (expires_at is not null)),
  constraint seats_have_holder check ((status in ('held', 'sold')) = (reservation_id is not null))
) with (fillfactor = 45);
-- A sector has each of its seats once. Ranks never change, so selling does not touch this index.
create unique index seats_by_sector on seats (sector_id, rank);
create index seats_by_match on seats (match_id);

-- The numbers of processes that show seat maps. Each takes one at its start, and its versions carry it, so versions of two
-- processes are never equal. Numbers are used again after 4,096 starts; the time in a version differs then.
create sequence seat_view_processes as integer minvalue 0 maxvalue 4095 start 0 cycle;

-- Seats that are sold in another system, and the loaded event that said so.
create table seat_blocks (
  seat_id    uuid constraint seat_blocks_pkey primary key,
  match_id   uuid not null,
  source     text not null,
  event_id   text collate "C" not null,
  reference  text not null,
  blocked_at timestamptz not null default now()
);

-- No index of reservations and orders contains a column that changes during a purchase, so updates stay in their page and touch
-- no index. Under SERIALIZABLE a row that is found through an index locks the whole index page (a predicate lock), and everybody
-- who adds to that page is a conflict: 184 concurrent checkouts needed 600 to 750 retries, and up to 64 of them gave up. For the
-- same reason there are no foreign keys between these tables: their checks read the same pages. The rows are written together,
-- and `cli verify` checks that they fit.
create table reservations (
  id            uuid constraint reservations_pkey primary key,
  match_id      uuid not null,
  sector_id     uuid not null,
  user_id       uuid not null,
  session_token text,
  status        text not null constraint reservations_status_check
                check (status in ('held', 'ordered', 'completed', 'expired', 'released')),
  -- In the order in which they were chosen; all of one sector with one price. One row for each seat would make a hold a fifth
  -- slower.
  seat_ids      uuid[] not null,
  quantity      integer not null constraint reservations_quantity_check check (quantity between 1 and 20),
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
-- The expiry sweeper reads each reservation once, after its expiry. Only then does a row leave this index.
create index reservations_due on reservations (expires_at) where not swept;
create index reservations_by_window on reservations (session_token) where session_token is not null;

-- The seats of reservations, one row for each seat, for readers.
create view reservation_seats as
  select r.id as reservation_id, l.seat_id, l.position, r.sector, s.row_label, s.number, r.price_cents
  from reservations r cross join unnest(r.seat_ids) with ordinality as l(seat_id, position) left join seats s on s.id = l.seat_id;

-- What a fan has of a match, for the limit. `revision` grows whenever the fan gets seats: a transaction that counted before may
-- not add after. It lists the reservations that may count, so reservations need no index by fan. The key begins with the fan: it
-- would otherwise put all buyers of a new match on one page.
create table fan_seats (
  match_id        uuid not null,
  user_id         uuid not null,
  revision        integer not null,
  reservation_ids uuid[] not null,
  -- Tickets received from other fans, minus those given away and those refunded. Bought tickets count for ever; this corrects it.
  received        integer not null default 0,
  constraint fan_seats_pkey primary key (user_id, match_id)
);

create table purchase_windows (
  session_token text collate "C" constraint purchase_windows_pkey primary key,
  match_id      uuid not null,
  user_id       uuid not null,
  expires_at    timestamptz not null,
  ended_at      timestamptz,
  end_reason    text,
  created_at    timestamptz not null default now(),
  -- Join time (µs) of the queue entry that had this turn: no receipt restores that entry.
  place_score   bigint
) with (fillfactor = 80);
create index purchase_windows_by_fan on purchase_windows (match_id, user_id);
-- Finds the windows that may be open: those that have not expired. Neither column changes, so ending a window does not touch this
-- index.
create index purchase_windows_by_expiry on purchase_windows (match_id, expires_at);

-- How far the monolith has read the event stream of each match. The reader locks this row.
create table queue_event_cursors (
  match_id uuid constraint queue_event_cursors_pkey primary key,
  last_id  text not null
);

-- Grows each time the waiting room of a match is restored. A turn that Redis granted under an older generation and that is not
-- stored here is void.
create table queue_generations (
  match_id   uuid constraint queue_generations_pkey primary key,
  generation integer not null
);

---------------------------------------------------------------------------------------------------------------------------------
-- Orders and payments
---------------------------------------------------------------------------------------------------------------------------------

create sequence order_numbers;

-- An order grows once (its intent) and changes twice within a second. With fillfactor 60 three of ten updates left their page,
-- and each of those wrote into six indexes.
create table orders (
  id               uuid constraint orders_pkey primary key,
  number           text not null constraint orders_number_key unique,
  match_id         uuid not null,
  reservation_id   uuid not null constraint orders_reservation_id_key unique,
  user_id          uuid not null,
  session_token    text,
  claims_window    boolean not null,
  status           text not null constraint orders_status_check
                   check (status in ('awaiting_payment', 'completed', 'cancelled', 'refunded', 'expired')),
  total_cents      integer not null,
  currency         text not null,
  email            text not null,
  holders          jsonb not null,
  provider         text not null,
  intent_id        text,
  client_secret    text,
  confirm_url      text,
  created_at       timestamptz not null default now(),
  completed_at     timestamptz,
  -- Sums over its tickets. An order that was paid too late has no tickets: all of its money goes back, and both stay 0.
  refunded_tickets integer not null default 0,
  refunded_cents   integer not null default 0 constraint orders_check
                   check (refunded_cents between 0 and total_cents),
  -- The idempotency key of the checkout that made the order. The checkout commits the order before its answer is stored. If it
  -- breaks off in between, a retry with this key still counts as the first use. Null: older than this column.
  placed_with_key  text collate "C"
) with (fillfactor = 35);
create index orders_by_fan on orders (user_id, id);
create index orders_by_match on orders (match_id, id);
-- One order for each window. A second one waits until the first is paid or given up, and is refused after a paid one.
create unique index orders_one_a_window on orders (session_token) where claims_window;

-- The order that an intent of the payment provider pays for.
create table order_intents (
  intent_id text constraint order_intents_pkey primary key,
  order_id  uuid not null
);

create table order_timeline (
  id       bigint generated always as identity,
  order_id uuid not null,
  at       timestamptz not null default clock_timestamp(),
  event    text not null,
  constraint order_timeline_pkey primary key (order_id, id)
);

-- Events of the payment provider that have taken effect. A repeated event finds its row and does nothing.
create table payment_inbox (
  event_id     text constraint payment_inbox_pkey primary key,
  type         text not null,
  intent_id    text,
  outcome      text not null,
  received_at  timestamptz not null default now(),
  -- As the provider reported it. `cli verify` compares it with the order, because we can read only the sandbox's own records.
  amount_cents bigint,
  currency     text
);

-- The sandbox: our payment provider for development and tests. With another provider both tables stay empty.
create table sandbox_intents (
  id            text constraint sandbox_intents_pkey primary key
                constraint sandbox_intents_id_check check (id ~ '^pi_[0-9A-Za-z]{24}$'),
  order_id      uuid not null constraint sandbox_intents_one_an_order unique,
  amount_cents  integer not null constraint sandbox_intents_amount_cents_check check (amount_cents >= 0),
  currency      text not null,
  status        text not null default 'requires_payment' constraint sandbox_intents_status_check
                check (status in ('requires_payment', 'failed', 'succeeded', 'canceled', 'refunded')),
  client_secret text not null,
  created_at    timestamptz not null default now()
) with (fillfactor = 45);

-- The caller chooses the key. A repeated refund finds its row, so the money goes back once.
create table sandbox_refunds (
  key          text constraint sandbox_refunds_pkey primary key,
  intent_id    text not null constraint sandbox_refunds_intent_id_fkey references sandbox_intents (id),
  amount_cents integer not null constraint sandbox_refunds_amount_cents_check check (amount_cents > 0),
  created_at   timestamptz not null default now()
);
create index sandbox_refunds_by_intent on sandbox_refunds (intent_id);

---------------------------------------------------------------------------------------------------------------------------------
-- Tickets
---------------------------------------------------------------------------------------------------------------------------------

-- The code in the QR is derived from id, match and serial and signed for each answer. It is not stored.
create table tickets (
  id          uuid constraint tickets_pkey primary key,
  order_id    uuid not null,
  match_id    uuid not null,
  user_id     uuid not null,
  seat_id     uuid not null,
  sector      text not null,
  row_label   text,
  number      integer,
  holder_name text not null,
  status      text not null default 'valid' constraint tickets_status_check
              check (status in ('valid', 'used', 'transferred', 'refunded')),
  -- Grows with each transfer: codes of an earlier serial are void.
  serial      integer not null default 1 constraint tickets_serial_check check (serial > 0),
  issued_at   timestamptz not null default now()
);
-- At most one ticket of a seat lets somebody in. This is the last guard against overselling, should all others fail.
create unique index tickets_one_a_seat on tickets (match_id, seat_id) where status in ('valid', 'used');
create index tickets_by_fan on tickets (user_id, id);
create index tickets_by_order on tickets (order_id, id);

---------------------------------------------------------------------------------------------------------------------------------
-- Fans, their devices and the blacklist
---------------------------------------------------------------------------------------------------------------------------------

create table fans (
  user_id    uuid constraint fans_pkey primary key,
  email      text,
  name       text,
  locale     text not null default 'hr' constraint fans_locale_check check (locale in ('hr', 'en')),
  updated_at timestamptz not null default now()
);

-- The devices that want pushes. A device may be known before its fan has a profile, so there is no foreign key. A token names an
-- installation of the app: after another fan signs in there, it must not get pushes for the fan before.
create table devices (
  user_id    uuid not null,
  device_id  text not null,
  fcm_token  text not null constraint devices_one_a_token unique,
  updated_at timestamptz not null default clock_timestamp(),
  constraint devices_pkey primary key (user_id, device_id)
);

-- Fans who may not buy.
create table blacklist (
  user_id   uuid constraint blacklist_pkey primary key,
  -- The order of the pages, newest first. A fan who is listed again is in front again.
  entry_id  uuid not null constraint blacklist_entry_id_key unique,
  reason    text not null,
  until     timestamptz,
  listed_by uuid not null,
  listed_at timestamptz not null
);

-- What operators did to the blacklist; rows never change. Writers take turns (a lock on blacklist), so the highest id names the
-- state of the list.
create table blacklist_changes (
  id      bigint generated always as identity constraint blacklist_changes_pkey primary key,
  user_id uuid not null,
  action  text not null constraint blacklist_changes_action_check check (action in ('list', 'lift')),
  reason  text,
  until   timestamptz,
  by      uuid not null,
  at      timestamptz not null
);
create index blacklist_changes_by_fan on blacklist_changes (user_id, id);

---------------------------------------------------------------------------------------------------------------------------------
-- Idempotency keys, outbox, inbox and background jobs
---------------------------------------------------------------------------------------------------------------------------------

create table idempotency_keys (
  key         text collate "C" constraint idempotency_keys_pkey primary key,
  user_id     uuid not null,
  fingerprint text not null,
  status      integer,
  body        text,
  location    text,
  -- The id of what the request made, if the answer can be built again from it. Then there is no body, and the row costs a tenth
  -- less.
  made        uuid,
  created_at  timestamptz not null default now()
);
-- Only the purge looks for old rows. They lie together, so a block range index is enough, and it costs writers nothing.
create index idempotency_keys_age on idempotency_keys using brin (created_at);

-- Messages to other processes, written in the transaction of their effect and sent by the relay (libs/messaging/src/outbox).
create table outbox (
  id           uuid constraint outbox_pkey primary key,
  seq          bigint generated always as identity,
  destination  text not null,
  event        text not null,
  aggregate_id text,
  body         jsonb not null,
  -- Messages of one series differ only in `job_id` and `range`: the relay may send many of them as one.
  series       uuid,
  created_at   timestamptz not null default now(),
  available_at timestamptz not null default now(),
  attempts     integer not null default 0,
  last_error   text,
  parked_at    timestamptz,
  -- The last failures, oldest first: {at, error}.
  failures     jsonb,
  -- When an operator last retried it: from then on it is sent however old it is.
  retried_at   timestamptz
);
-- What the relay reads: due messages, oldest first, without parked ones.
create index outbox_due on outbox (destination, seq) where parked_at is null;
-- Contains only the rows of broadcasts.
create index outbox_series on outbox (destination, seq) where parked_at is null and series is not null;
-- For each due message the relay asks whether there is an earlier one of the same aggregate.
create index outbox_aggregate on outbox (aggregate_id, seq) where parked_at is null and aggregate_id is not null;
-- Operators list parked messages and retry them.
create index outbox_parked on outbox (id) where parked_at is not null;

-- The messages that a consumer has processed (libs/messaging/src/inbox). An effect inside PostgreSQL commits together with its
-- row; a send to the outside claims the row before and finishes it after. Rows are kept for 90 days, longer than any message
-- can be repeated. Each row is written twice within milliseconds: with free space in its page the second write touches no index,
-- which saves a third of the WAL and a quarter of the work.
create table inbox (
  consumer    text not null,
  message_id  text not null,
  -- Null: claimed once, known not to be sent, may be claimed again.
  claimed_at  timestamptz,
  -- Null: unknown whether it was sent.
  finished_at timestamptz,
  attempts    smallint not null constraint inbox_attempts_check check (attempts between 0 and 2),
  constraint inbox_pkey primary key (consumer, message_id)
) with (fillfactor = 50);
create index inbox_finished_at_idx on inbox using brin (finished_at);

-- Background jobs (libs/messaging/src/jobs). The row decides about a job, whatever transports it (BullMQ in Redis or PostgreSQL):
-- it is written in the transaction that wants the work, and marked as done in the transaction of the effect.
create table jobs (
  id         uuid constraint jobs_pkey primary key,
  class      text not null,
  message    jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  -- Every failed attempt, oldest first: {at, error, stack}.
  attempts   jsonb not null default '[]',
  -- What transported it when it failed for good.
  transport  text,
  done_at    timestamptz,
  failed_at  timestamptz,
  constraint jobs_one_end check (done_at is null or failed_at is null)
);
create index jobs_open on jobs (id) where done_at is null;
-- A job that is done is looked up by its id only, and deleted after an hour.
create index jobs_done on jobs (done_at) where done_at is not null;

-- Who retried or dropped a job of any queue.
create table job_interventions (
  id     bigint generated always as identity constraint job_interventions_pkey primary key,
  queue  text not null,
  job_id text not null,
  action text not null constraint job_interventions_action_check check (action in ('retry', 'drop')),
  by     text not null,
  at     timestamptz not null default clock_timestamp()
);
create index job_interventions_by_job on job_interventions (job_id, id);

-- Messages that are jobs in Redis and not done: the relay moves each here from the outbox, so a Redis that loses its data loses no
-- message. The worker deletes the row when the job ends, and sends again what Redis no longer has.
create table queued_jobs (
  message_id uuid not null constraint queued_jobs_pkey primary key,
  queue      text not null,
  -- Not compressed: a row lives for moments, and compression is a fifth of the cost of a bundle.
  body       jsonb storage external not null,
  -- More than 1: a bundle of so many jobs that are not in their queue yet.
  jobs       integer not null default 1,
  queued_at  timestamptz not null default clock_timestamp()
);
-- The metrics read how many jobs are in bundles.
create index queued_jobs_bundles on queued_jobs (queue) include (jobs) where jobs > 1;

---------------------------------------------------------------------------------------------------------------------------------
-- Mails, pushes and alerts
---------------------------------------------------------------------------------------------------------------------------------

-- Mails and pushes that were not sent because the provider is the mailbox (apps/notification-worker/src/mailbox).
create table mailbox_messages (
  id          bigint generated always as identity constraint mailbox_messages_pkey primary key,
  channel     text not null constraint mailbox_messages_channel_check check (channel in ('email', 'push')),
  -- The address of a mail or the token of a push: one row for each device.
  recipient   text not null,
  user_id     uuid,
  template    text not null,
  subject     text not null,
  text        text not null,
  html        text,
  -- The names of the attached files.
  attachments text[] not null default '{}',
  sent_at     timestamptz not null default clock_timestamp()
);
create index mailbox_messages_recipient_idx on mailbox_messages (recipient, id desc);
create index mailbox_messages_user_idx on mailbox_messages (user_id, id desc) where user_id is not null;

-- How far one push job of up to 500 devices is (apps/notification-worker/src/push). It is written before the first request, in
-- between and at the end, so the worker that takes over the job does not begin again.
create table push_progress (
  message_id   text not null constraint push_progress_pkey primary key,
  broadcast_id uuid,
  devices      smallint not null,
  -- The worker that sends it. Null: none, and no send is in doubt.
  holder       uuid,
  claimed_at   timestamptz not null,
  finished_at  timestamptz,
  -- Indexes of the devices that are finished, delivered or not.
  done         smallint[] not null default '{}',
  dead         smallint not null default 0,
  refused      smallint not null default 0
);
create index push_progress_broadcast_idx on push_progress (broadcast_id) where broadcast_id is not null;
create index push_progress_finished_at_idx on push_progress using brin (finished_at);

-- One message to very many devices: the devices are stored once, and each job carries a range of them.
create table broadcasts (
  id         uuid not null constraint broadcasts_pkey primary key,
  template   text not null,
  devices    integer not null,
  created_at timestamptz not null default clock_timestamp()
);

create table broadcast_devices (
  broadcast_id uuid not null constraint broadcast_devices_broadcast_fkey references broadcasts (id) on delete cascade,
  ordinal      integer not null,
  fcm_token    text not null,
  constraint broadcast_devices_pkey primary key (broadcast_id, ordinal)
);

-- What operators must be told. A note is written as soon as the fact is known, so a crash loses none. Notes about the same thing
-- are told together, as one background job for each way (libs/messaging/src/sending/alert-notes.ts). They are kept for 14 days, so
-- nothing is told twice.
create table alert_notes (
  id       bigint generated always as identity constraint alert_notes_pkey primary key,
  way      text not null constraint alert_notes_way_check check (way in ('webhook', 'mail')),
  -- Notes with the same `about` are told together.
  about    text not null,
  text     text not null,
  -- The dead letter or parked row of the note: one note for each, however many processes saw it. Null: no such thing.
  subject  text,
  noted_at timestamptz not null default clock_timestamp(),
  -- When it became a background job.
  told_at  timestamptz,
  constraint alert_notes_subject_key unique (subject, way)
);
create index alert_notes_untold on alert_notes (way, about) where told_at is null;
create index alert_notes_told on alert_notes (way, about, told_at) where told_at is not null;

---------------------------------------------------------------------------------------------------------------------------------
-- The event loader (libs/event-loader): events of other systems, and how far it is with each source
---------------------------------------------------------------------------------------------------------------------------------

create table loaded_events (
  source    text not null,
  event_id  text collate "C" not null,
  payload   jsonb not null,
  loaded_at timestamptz not null default now(),
  -- No event is stored twice, whatever happens to locks and cursors.
  constraint loaded_events_pkey primary key (source, event_id)
);

-- The cursor moves by compare-and-set. `fence` is the number of the lock that last moved it.
create table loader_sources (
  source             text constraint loader_sources_pkey primary key,
  cursor             text collate "C",
  fence              bigint not null default 0,
  stored             bigint not null default 0,
  refused_duplicates bigint not null default 0,
  quarantined        bigint not null default 0,
  -- Ids that were skipped because the source did not offer them.
  gaps               bigint not null default 0,
  -- Fetched and dropped, because another loader had stored them first.
  transported_again  bigint not null default 0,
  -- By the source's own count, if it has one.
  missing            bigint,
  errors             bigint not null default 0,
  last_error         text,
  -- When operators were last told that the source refuses us (401, 403): once an hour, however many loaders run.
  refusal_told_at    timestamptz,
  -- When we last had everything that the source had. Until the first time the lag counts from the first poll.
  caught_up_at       timestamptz,
  asked_since        timestamptz not null default now()
) with (fillfactor = 50);

-- The balance of each hour: each event that a source offered is stored, refused, quarantined or dropped.
create table loader_balance (
  source             text not null,
  hour               timestamptz not null,
  offered            bigint not null default 0,
  stored             bigint not null default 0,
  refused_duplicates bigint not null default 0,
  quarantined        bigint not null default 0,
  dropped            bigint not null default 0,
  -- By the source's own count, the last one in this hour.
  missing            bigint,
  constraint loader_balance_pkey primary key (source, hour)
) with (fillfactor = 50);

-- Malformed events, kept for operators and never given to a consumer. The same one fetched again is the same row.
create table quarantined_events (
  source         text not null,
  event_id       text collate "C" not null default '',
  code           text not null,
  digest         text not null,
  detail         text not null,
  content        text not null,
  quarantined_at timestamptz not null default now(),
  constraint quarantined_events_pkey primary key (source, event_id, code, digest)
);

-- Events that wait for their consumer. Written in the transaction that stores the event, deleted when it is applied.
create table loaded_events_due (
  source     text not null,
  event_id   text collate "C" not null,
  -- The consumer.
  feeds      text not null,
  seq        bigint generated always as identity,
  attempts   integer not null default 0,
  last_error text,
  due_at     timestamptz not null default now(),
  -- It can never be applied, or failed too often: operators decide.
  parked_at  timestamptz,
  constraint loaded_events_due_pkey primary key (source, event_id)
);
create index loaded_events_due_order on loaded_events_due (seq) where parked_at is null;
create index loaded_events_due_parked on loaded_events_due (parked_at) where parked_at is not null;

-- What was done in another system and cannot be done here. Written in the transaction that found it; operators resolve it.
create table loaded_conflicts (
  source      text not null,
  event_id    text collate "C" not null,
  -- A seat or a ticket.
  subject     text not null,
  code        text not null,
  detail      text not null,
  raised_at   timestamptz not null default now(),
  resolved_at timestamptz,
  constraint loaded_conflicts_pkey primary key (source, event_id, subject)
);
create index loaded_conflicts_open on loaded_conflicts (source) where resolved_at is null;

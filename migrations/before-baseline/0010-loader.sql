-- What the event loader (libs/event-loader) brought from elsewhere, and how far it is with each source.

create table loaded_events (
  source    text not null,
  event_id  text collate "C" not null,
  payload   jsonb not null,
  loaded_at timestamptz not null default now(),
  -- Stored twice is impossible, whatever happens to locks and cursors.
  primary key (source, event_id)
);

-- The cursor moves by compare-and-set; the fence is the number of the lock that moved it last.
create table loader_sources (
  source             text primary key,
  cursor             text collate "C",
  fence              bigint not null default 0,
  stored             bigint not null default 0,
  refused_duplicates bigint not null default 0,
  quarantined        bigint not null default 0,
  -- Ids that were passed over because nobody offered them.
  gaps               bigint not null default 0,
  -- What was fetched and thrown away, because another loader had been faster.
  transported_again  bigint not null default 0,
  -- By the source's own count, where it offers one.
  missing            bigint,
  errors             bigint not null default 0,
  last_error         text,
  -- When people were last told that it lets us in no more (401, 403): once an hour, however many loaders there are.
  refusal_told_at    timestamptz,
  -- When all that the source had was here, last; until it was for the first time, the lag counts from the first question.
  caught_up_at       timestamptz,
  asked_since        timestamptz not null default now()
) with (fillfactor = 50);

-- The balance sheet, by hour: what a source offered must be stored, refused or quarantined.
create table loader_balance (
  source             text not null,
  hour               timestamptz not null,
  offered            bigint not null default 0,
  stored             bigint not null default 0,
  refused_duplicates bigint not null default 0,
  quarantined        bigint not null default 0,
  dropped            bigint not null default 0,
  -- By the source's own count, as it was last told in this hour.
  missing            bigint,
  primary key (source, hour)
) with (fillfactor = 50);

-- Never shown to a consumer; kept for people. The same bad event met again is the same row.
create table quarantined_events (
  source         text not null,
  event_id       text collate "C" not null default '',
  code           text not null,
  digest         text not null,
  detail         text not null,
  content        text not null,
  quarantined_at timestamptz not null default now(),
  primary key (source, event_id, code, digest)
);

-- Events that somebody here acts upon, until it is done; written in the transaction that stores the event.
create table loaded_events_due (
  source     text not null,
  event_id   text collate "C" not null,
  -- Who acts upon it.
  feeds      text not null,
  seq        bigint generated always as identity,
  attempts   integer not null default 0,
  last_error text,
  due_at     timestamptz not null default now(),
  -- It can never act, or failed too often: people decide.
  parked_at  timestamptz,
  primary key (source, event_id)
);
create index loaded_events_due_order on loaded_events_due (seq) where parked_at is null;

-- What was done elsewhere and cannot be done here; written in the transaction that found it out. People decide, and resolve it.
create table loaded_conflicts (
  source      text not null,
  event_id    text collate "C" not null,
  -- A seat, a ticket.
  subject     text not null,
  code        text not null,
  detail      text not null,
  raised_at   timestamptz not null default now(),
  resolved_at timestamptz,
  primary key (source, event_id, subject)
);
create index loaded_conflicts_open on loaded_conflicts (source) where resolved_at is null;

-- Seats that are sold elsewhere, and by which event that was told.
create table seat_blocks (
  seat_id    uuid primary key,
  match_id   uuid not null,
  source     text not null,
  event_id   text collate "C" not null,
  reference  text not null,
  blocked_at timestamptz not null default now()
);

-- What operators are to be told. A note is written as soon as the fact is known, so no crash loses it. Notes about the same thing
-- are told together, as one background job for each way (libs/platform/src/sending/alert-notes.ts). Kept for 14 days, so that
-- nothing is told again.
create table alert_notes (
  id       bigint generated always as identity,
  way      text not null,
  -- Notes with the same `about` are told together.
  about    text not null,
  text     text not null,
  -- The dead letter or the parked row it tells of: one note each, however many processes have seen it. Null: no such thing.
  subject  text,
  noted_at timestamptz not null default clock_timestamp(),
  -- When it became a background job.
  told_at  timestamptz,
  constraint alert_notes_pkey primary key (id),
  constraint alert_notes_subject_key unique (subject, way),
  constraint alert_notes_way_check check (way in ('webhook', 'mail'))
);
create index alert_notes_untold on alert_notes (way, about) where told_at is null;
create index alert_notes_told on alert_notes (way, about, told_at) where told_at is not null;

-- Operators look at parked messages, and have them tried again.
create index outbox_parked on outbox (id) where parked_at is not null;
-- The last failures, oldest first: {at, error}.
alter table outbox add column failures jsonb;
-- When an operator last had it tried again: from then on it leaves however old it is.
alter table outbox add column retried_at timestamptz;
create index loaded_events_due_parked on loaded_events_due (parked_at) where parked_at is not null;

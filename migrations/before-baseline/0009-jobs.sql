-- General background jobs (libs/platform/src/jobs). The row is the truth about a job, whatever carries it (BullMQ in Redis or in
-- PostgreSQL): it is written in the transaction that wants the work, and marked as done in the transaction of the effect.
create table jobs (
  id         uuid primary key,
  class      text not null,
  message    jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  -- Every attempt that failed, oldest first: {at, error, stack}.
  attempts   jsonb not null default '[]',
  -- What carried it when it failed for good.
  transport  text,
  done_at    timestamptz,
  failed_at  timestamptz,
  constraint jobs_one_end check (done_at is null or failed_at is null)
);
-- The rows anybody looks for: a job that is done is looked up by its id only, and is forgotten after an hour.
create index jobs_open on jobs (id) where done_at is null;
create index jobs_done on jobs (done_at) where done_at is not null;

-- Who had a job of any queue done again, or dropped.
create table job_interventions (
  id         bigint generated always as identity primary key,
  queue      text not null,
  job_id     text not null,
  action     text not null check (action in ('retry', 'drop')),
  by         text not null,
  at         timestamptz not null default clock_timestamp()
);
create index job_interventions_by_job on job_interventions (job_id, id);

-- Tickets a fan got from others, less those given away and those refunded: what is bought counts for ever, and this makes up for it.
alter table fan_seats add column received integer not null default 0;

-- Kick-offs that fans were reminded of; a match that is moved is another one.
create table match_reminders (
  match_id   uuid not null,
  kickoff_at timestamptz not null,
  planned_at timestamptz not null default now(),
  primary key (match_id, kickoff_at)
);

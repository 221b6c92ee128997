-- Fans who erased what is kept about them. The request erases what it can; the retention job does the rest, because the services may not
-- change loaded events, and because jobs and answers are in Redis too. Rows are kept for a year: after a restore of an older backup
-- they say whom to erase again.
create table erasures (
  id           uuid constraint erasures_pkey primary key,
  user_id      uuid not null,
  requested_at timestamptz not null default clock_timestamp(),
  -- What the retention job searches for: {emails, ids, push_tokens}. Null once it has finished.
  traces       jsonb,
  done_at      timestamptz,
  constraint erasures_traces_until_done check ((traces is null) = (done_at is not null))
);
create index erasures_open on erasures (requested_at) where done_at is null;

-- What the retention job did last for each of its rules.
create table retention_runs (
  rule    text constraint retention_runs_pkey primary key,
  ran_at  timestamptz not null,
  -- Rows that the last run deleted or emptied, and all runs.
  last_n  bigint not null,
  total_n bigint not null
);

-- Past matches of which the retention job has erased all names and addresses.
create table erased_matches (
  match_id  uuid constraint erased_matches_pkey primary key,
  erased_at timestamptz not null default now()
);

-- All offers of a match, to erase their names and addresses.
drop index transfer_offers_open_by_match;
create index transfer_offers_by_match on transfer_offers (match_id);

-- Events are found by their age.
create index loaded_events_age on loaded_events using brin (loaded_at);

-- The invitations of a fan.
create index invitations_by_fan on invitations (user_id) where user_id is not null;
create index invitations_by_claimer on invitations (claimed_by) where claimed_by is not null;
create index invitations_by_address on invitations (lower(email));

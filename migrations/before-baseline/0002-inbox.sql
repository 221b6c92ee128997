-- What a consumer has dealt with (libs/platform/src/postgres/delivery-ledger.ts). An effect inside PostgreSQL commits
-- together with its row; a send to the outside world claims the row before and finishes it after.
create table inbox (
  consumer text not null,
  message_id text not null,
  -- null: claimed once, known not to have left, free to be claimed again
  claimed_at timestamptz,
  -- null: nobody knows yet whether it left
  finished_at timestamptz,
  attempts smallint not null,
  constraint inbox_pkey primary key (consumer, message_id),
  constraint inbox_attempts_check check (attempts between 0 and 2)
) with (
  -- Every row is written twice within milliseconds. With room in its page the second time touches no index: a third less WAL,
  -- a quarter less work.
  fillfactor = 50
);

-- Rows are kept 90 days, longer than any message can come back; this is how the purge finds the old ones.
create index inbox_finished_at_idx on inbox using brin (finished_at);

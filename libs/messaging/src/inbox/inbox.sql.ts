import { namedSql } from '#platform/postgres/named-sql';

/**
 * Records a message as done, in the transaction of its effect. Guarantee: of all transactions that record the same message only
 * one gets a result row. All other transactions wait for its commit and get no row. A message with a claim that was never
 * finished (send-claims.sql.ts) counts as not done.
 */
export const REMEMBER_MESSAGE = namedSql<{ readonly consumer: string; readonly messageId: string }>(
  'remember-message',
  `
  insert into inbox (consumer, message_id, claimed_at, finished_at, attempts)
  values (:consumer, :messageId, clock_timestamp(), clock_timestamp(), 1)
  on conflict (consumer, message_id) do update set finished_at = excluded.finished_at
  where inbox.finished_at is null
  returning true as mine`,
);

/** Deletes inbox rows of messages that cannot arrive again. It skips rows that another transaction has locked. */
export const PURGE_INBOX = namedSql<{ readonly keepDays: number; readonly limit: number }>(
  'purge-inbox',
  `
  with old as (
    select consumer, message_id from inbox
    where finished_at < now() - make_interval(days => :keepDays) limit :limit for update skip locked
  ) delete from inbox using old where inbox.consumer = old.consumer and inbox.message_id = old.message_id`,
);

import type { DataSource } from 'typeorm';
import { namedSql } from '#platform/postgres/named-sql';
import { deleteOldRows } from '#platform/postgres/read-committed';

/** Longer than a message can arrive again: dead letters are kept for 30 days, and rows of the outbox for a much shorter time. */
const RETENTION_DAYS = 90;
/** Maximum number of rows that one statement deletes. */
const BATCH_SIZE = 1000;

/** Deletes inbox rows of messages that cannot arrive again. It skips rows that another transaction has locked. */
const PURGE_INBOX = namedSql<{ readonly keepDays: number; readonly limit: number }>(
  'purge-inbox',
  `
  with old as (
    select consumer, message_id from inbox
    where finished_at < now() - make_interval(days => :keepDays) limit :limit for update skip locked
  ) delete from inbox using old where inbox.consumer = old.consumer and inbox.message_id = old.message_id`,
);

/**
 * Deletes inbox rows of messages that cannot arrive again. READ COMMITTED on purpose: no decision depends on these rows any more.
 */
export async function purgeInboxOnce(dataSource: DataSource): Promise<number> {
  const statement = PURGE_INBOX.with({ keepDays: RETENTION_DAYS, limit: BATCH_SIZE });
  return deleteOldRows(dataSource, statement);
}

/**
 * How long copies of jobs are kept: one day less than Redis keeps a failed job (30 days). An older copy would restore a job that
 * Redis has expired.
 */
const QUEUED_JOBS_RETENTION_DAYS = 29;

/** How long alert notes are kept: longer than the period in which failures without an alert are searched. */
const ALERT_NOTES_RETENTION_DAYS = 14;

/** Deletes old rows about pushes, broadcasts and their devices, copies of jobs that nobody retried, and alert notes. */
export async function purgeNotificationsOnce(dataSource: DataSource): Promise<number> {
  const deletions = [
    ['push_progress', 'message_id', 'claimed_at', RETENTION_DAYS],
    ['broadcasts', 'id', 'created_at', RETENTION_DAYS],
    ['queued_jobs', 'message_id', 'queued_at', QUEUED_JOBS_RETENTION_DAYS],
    ['alert_notes', 'id', 'noted_at', ALERT_NOTES_RETENTION_DAYS],
  ] as const;
  let purged = 0;
  for (const [table, key, time, days] of deletions) {
    const sql = `
      delete from ${table} where ${key} in (
        select ${key} from ${table} where ${time} < now() - make_interval(days => $1) limit $2 for update skip locked
      )`;
    purged += await deleteOldRows(dataSource, sql, [days, BATCH_SIZE]);
  }
  return purged;
}

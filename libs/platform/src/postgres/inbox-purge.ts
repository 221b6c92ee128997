import type { DataSource } from 'typeorm';
import { movingRows } from './moving-rows.ts';

/** Longer than any replay: jobs live 30 days in the dead letter, and the relay's own rows far less. */
const KEEP_DAYS = 90;
const BATCH = 1000;

/** Forgets messages nobody can bring again. READ COMMITTED on purpose: it moves rows nobody decides by any more. */
export async function purgeInboxOnce(dataSource: DataSource): Promise<number> {
  return purge(
    dataSource,
    `with old as (
       select consumer, message_id from inbox where finished_at < now() - make_interval(days => $1) limit $2 for update skip locked
     ) delete from inbox using old where inbox.consumer = old.consumer and inbox.message_id = old.message_id`,
    [KEEP_DAYS, BATCH],
  );
}

async function purge(dataSource: DataSource, sql: string, parameters: readonly unknown[]): Promise<number> {
  const { rowCount } = await movingRows(dataSource, (tx) => tx.query(sql, parameters));
  return rowCount;
}

/** As long as a failed job is kept in Redis, less a day, so that nothing is put back that was forgotten there on purpose. */
const QUEUED_KEEP_DAYS = 29;

/** Longer than anything looks back for failures that nobody has reported. */
const ALERT_NOTES_KEEP_DAYS = 14;

/** The same for pushes, for the devices of broadcasts, and for jobs that nobody retried. */
export async function purgeNotificationsOnce(dataSource: DataSource): Promise<number> {
  const deletions = [
    ['push_progress', 'message_id', 'claimed_at', KEEP_DAYS],
    ['broadcasts', 'id', 'created_at', KEEP_DAYS],
    ['queued_jobs', 'message_id', 'queued_at', QUEUED_KEEP_DAYS],
    ['alert_notes', 'id', 'noted_at', ALERT_NOTES_KEEP_DAYS],
  ] as const;
  let purged = 0;
  for (const [table, key, time, days] of deletions) {
    purged += await purge(
      dataSource,
      `delete from ${table} where ${key} in (
         select ${key} from ${table} where ${time} < now() - make_interval(days => $1) limit $2 for update skip locked
       )`,
      [days, BATCH],
    );
  }
  return purged;
}

import type { DataSource } from 'typeorm';

/** Longer than any replay: jobs live 30 days in the dead letter, and the relay's own rows far less. */
const KEEP_DAYS = 90;
const BATCH = 1000;

/** Forgets messages nobody can bring again. READ COMMITTED on purpose: it moves rows nobody decides by any more. */
export async function purgeInboxOnce(dataSource: DataSource): Promise<number> {
  const rows = (await dataSource.query(
    `with old as (
       select consumer, message_id from inbox where finished_at < now() - make_interval(days => $1) limit $2 for update skip locked
     ) delete from inbox using old where inbox.consumer = old.consumer and inbox.message_id = old.message_id returning 1`,
    [KEEP_DAYS, BATCH],
  )) as [unknown[], number];
  return rows[1];
}

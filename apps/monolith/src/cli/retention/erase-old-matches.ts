import { runReadCommitted, type ReadCommittedTransaction } from '#platform/postgres/read-committed';
import type { DataSource } from 'typeorm';

/** How long names and addresses are kept after kick-off: as long as buyers may complain. */
export const CONTACT_RETENTION = '1 year';
/** Orders that one transaction empties. */
const BATCH_SIZE = 500;

const OLD_MATCHES = `
  select m.id from matches m
  where m.kickoff_at < now() - interval '${CONTACT_RETENTION}' and not exists (select from erased_matches e where e.match_id = m.id)
  order by m.kickoff_at limit 100`;

const NEXT_ORDERS = `select id from orders where match_id = $1 and id > $2 order by id limit ${BATCH_SIZE}`;
const NO_ORDER = '00000000-0000-0000-0000-000000000000';

/** What has names, addresses and payment secrets of these orders. */
const OF_ORDERS = [
  `update orders set email = '', holders = '[]', client_secret = null, confirm_url = null where id = any($1) and email <> ''`,
  `update tickets set holder_name = '' where order_id = any($1) and holder_name <> ''`,
];

/** What else has names and addresses of a match. Without its address, an invitation cannot be in a list of addresses. */
const OF_MATCH = [
  `delete from transfer_offers where match_id = $1 and status <> 'accepted'`,
  `update transfer_offers set to_email = null, holder_name = null
   where match_id = $1 and (to_email is not null or holder_name is not null)`,
  `update invitations set email = '', name = null, note = null, list_key = null
   where email <> '' and quota_id in (select id from quotas where match_id = $1)`,
  `update quotas set contact_email = null where match_id = $1 and contact_email is not null`,
];

/**
 * Erases the names and addresses of matches long past, in batches. A match is marked when all of it is done, so a run that breaks off is
 * repeated. Returns how many rows were changed.
 */
export async function eraseOldMatches(database: DataSource, stop?: AbortSignal): Promise<number> {
  let erased = 0;
  for (const { id } of await database.query<{ id: string }[]>(OLD_MATCHES)) {
    for (let after = NO_ORDER; ;) {
      if (stop?.aborted) return erased;
      const orderIds = (await database.query<{ id: string }[]>(NEXT_ORDERS, [id, after])).map((order) => order.id);
      erased += await runReadCommitted(database, (tx) => runAll(tx, OF_ORDERS, [orderIds]));
      if (orderIds.length < BATCH_SIZE) break;
      after = orderIds.at(-1)!;
    }
    erased += await runReadCommitted(database, async (tx) => {
      const rows = await runAll(tx, OF_MATCH, [id]);
      await tx.query('insert into erased_matches (match_id) values ($1) on conflict do nothing', [id]);
      return rows;
    });
  }
  return erased;
}

async function runAll(
  tx: ReadCommittedTransaction,
  statements: readonly string[],
  parameters: readonly unknown[],
): Promise<number> {
  let rows = 0;
  for (const statement of statements) rows += (await tx.query(statement, parameters)).rowCount;
  return rows;
}

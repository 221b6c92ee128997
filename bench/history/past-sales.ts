import type { Client } from 'pg';
import type { HistorySize } from './history-size.ts';
import { historySteps } from './past-sales.sql.ts';

/**
 * Adds past matches with their sales to a migrated database: matches, seats, holds, orders, tickets, payments, quotas, and of messages and
 * keys what their retention leaves. `npm run cli -- verify` finds nothing wrong with them. The payment provider of the orders is Stripe.
 *
 * Left out are the mailbox and the records of the sandbox, which production does not have, and everything that is not waiting any more:
 * the outbox and queued jobs are empty after a sale.
 *
 * Indexes are built after the rows, and pages are filled to the end, which takes half of the time and a third of the disk. So a page of
 * history has more rows than one of a sale has after its updates.
 */
export async function addPastSales(
  client: Client,
  size: HistorySize,
  say: (line: string) => void = () => undefined,
): Promise<void> {
  const tables = [...new Set(historySteps(size).flatMap(({ table }) => table ?? []))];
  await client.query(`set work_mem = '256MB'; set maintenance_work_mem = '256MB'; set synchronous_commit = off; set jit = off`);
  const [restoreFillfactors, restoreIndexes] = [await fillPages(client, tables), await dropIndexes(client, tables)];
  for (const { table, sql } of historySteps(size)) {
    const startedAt = performance.now();
    const { rowCount } = await client.query(table ? await insertInto(client, table, sql) : sql);
    if (table) say(`${rowCount} ${table} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  }
  for (const statement of [...restoreIndexes, ...restoreFillfactors]) await client.query(statement);
  await client.query('reset all');
}

/** The names of the selected columns are those of the table. */
async function insertInto(client: Client, table: string, select: string): Promise<string> {
  const { fields } = await client.query(`select * from (${select}) selected limit 0`);
  return `insert into ${table} (${fields.map(({ name }) => name).join(', ')}) ${select}`;
}

/** Makes new pages full. Returns the statements that set the fillfactors of the tables again. */
async function fillPages(client: Client, tables: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string; fillfactor: string }>(
    `select relname as name, substring(option from '\\d+') as fillfactor from pg_class, unnest(reloptions) as option
     where relname = any($1) and relkind = 'r' and option like 'fillfactor=%'`,
    [tables],
  );
  for (const { name } of rows) await client.query(`alter table ${name} set (fillfactor = 100)`);
  return rows.map(({ name, fillfactor }) => `alter table ${name} set (fillfactor = ${fillfactor})`);
}

/** Drops all indexes of the tables that are not constraints. Returns the statements that create them again. */
async function dropIndexes(client: Client, tables: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select c.relname as name, pg_get_indexdef(c.oid) as definition from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = any(select oid from pg_class where relname = any($1) and relkind = 'r')
       and not exists (select from pg_constraint where conindid = c.oid)`,
    [tables],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

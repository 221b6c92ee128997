import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import pg from 'pg';
import {
  databaseSemanticsContract,
  type HistoryPlayer,
  type Operation,
  type Session,
  type OperationResult,
} from './database-semantics.contract.ts';

// Runs the contract of the simulated database on PostgreSQL. So PostgreSQL and the simulation behave alike in all its histories.

/** An operation that has no answer after this time is taken to wait for a lock. */
const ANSWER_TIMEOUT_MS = 150;

let database: TestDatabase;
let clients: Record<Session, pg.Client>;

beforeAll(async () => {
  database = await createTestDatabase();
  const [A, B, C] = [1, 2, 3].map(() => new pg.Client({ connectionString: database.url }));
  if (!A || !B || !C) throw new Error('expected three clients');
  clients = { A, B, C };
  for (const client of Object.values(clients)) await client.connect();
  await clients.A.query('create table cells (id text primary key, value int not null)');
});
afterAll(async () => {
  for (const client of Object.values(clients)) await client.end();
  await database.close();
});

const statements: Record<Operation['do'], string> = {
  begin: 'begin',
  get: 'select value from cells where id = $1',
  lock: 'select value from cells where id = $1 for update',
  'lock unless locked': 'select value from cells where id = $1 for update skip locked',
  set: 'update cells set value = $2 where id = $1',
  insert: 'insert into cells values ($1, 0) on conflict do nothing returning id',
  sum: 'select sum(value)::int as value from cells',
  commit: 'commit',
  rollback: 'rollback',
};

async function perform(session: Session, operation: Operation): Promise<OperationResult> {
  const parameters = 'row' in operation ? [operation.row, ...('to' in operation ? [operation.to] : [])] : [];
  const isolation = operation.do === 'begin' ? ` isolation level ${operation.isolation ?? 'serializable'}` : '';
  try {
    const { rows } = await clients[session].query<{ value?: number }>(statements[operation.do] + isolation, parameters);
    if (operation.do === 'insert') return rows.length > 0;
    if (operation.do === 'lock unless locked' && rows.length === 0) return 'locked';
    return rows[0]?.value ?? 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const player: HistoryPlayer = {
  async play(history) {
    await clients.A.query('truncate cells');
    await clients.A.query(`insert into cells values ('x', 10), ('y', 10), ('z', 10)`);
    const results: OperationResult[] = [];
    const resultsAfterWait: Record<number, OperationResult> = {};
    const waiting: Promise<void>[] = [];
    for (const [index, [session, operation]] of history.entries()) {
      const result = perform(session, operation);
      const first = await Promise.race([
        result,
        new Promise<'waits'>((resolve) => setTimeout(() => resolve('waits'), ANSWER_TIMEOUT_MS)),
      ]);
      results.push(first);
      if (first === 'waits') waiting.push(result.then((final) => void (resultsAfterWait[index] = final)));
    }
    await Promise.all(waiting);
    for (const client of Object.values(clients)) await client.query('rollback');
    const { rows } = await clients.A.query<{ id: string; value: number }>('select id, value from cells order by id');
    return { results, resultsAfterWait, rows: Object.fromEntries(rows.map(({ id, value }) => [id, value])) };
  },
};

databaseSemanticsContract(() => Promise.resolve(player));

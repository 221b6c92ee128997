import { TcpProxy } from '#testing/tcp-proxy';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { newId } from '../ids.ts';
import { createLogger } from '../logging/logger.ts';
import type { Destination } from '../outbox/destination.ts';
import { OutboxRelay } from '../outbox/outbox-relay.ts';
import { PostgresOutbox } from '../outbox/postgres-outbox.ts';
import { openDatabase } from './database.ts';
import { PostgresTransactionManager } from './transaction-manager.ts';
import { inside } from './transaction.ts';

let testDatabase: TestDatabase;
let direct: DataSource;
let proxy: TcpProxy;
/** One connection only: whoever comes next gets the one that was given back, or a new one. */
let database: DataSource;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  direct = await openDatabase({ url: testDatabase.url, name: 'direct', poolSize: 2 });
});
beforeEach(async () => {
  proxy = await TcpProxy.inFrontOf(testDatabase.url);
  database = await openDatabase({ url: proxy.url, name: 'through-proxy', poolSize: 1 });
});
afterEach(async () => {
  await proxy.close();
  await database.destroy();
});
afterAll(async () => {
  await direct.destroy();
  await testDatabase.drop();
});

const pid = async (): Promise<number> => (await database.query<{ pid: number }[]>('select pg_backend_pid() as pid'))[0]?.pid ?? 0;
const locksHeld = async (): Promise<unknown> =>
  direct.query(
    `select pid from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
  );
const fails = new Error('the block fails');

/** A transaction that has a lock and fails. */
function failing(): Promise<void> {
  const transactions = new PostgresTransactionManager(database, { deadlineMs: 5000 });
  return transactions.run(async (tx) => {
    await inside(tx).rows('select pg_advisory_xact_lock(1)');
    throw fails;
  });
}

/** A round of the relay whose way out is broken. */
async function failingRound(): Promise<void> {
  const message = { id: newId(), destination: 'email', event: 'test', body: {} };
  await new PostgresTransactionManager(direct, { deadlineMs: 5000 }).run((tx) => new PostgresOutbox().append(tx, [message]));
  const broken: Destination = { name: 'email', batchSize: 10, deliver: () => Promise.reject(fails) };
  await new OutboxRelay(database, broken, createLogger({ service: 'test', level: 'silent' })).runOnce();
}

describe.each([
  ['a transaction', failing],
  ['a round of the relay', failingRound],
])('%s that fails', (_, fail) => {
  test('gives its connection back for the next one', async () => {
    const before = await pid();
    await expect(fail()).rejects.toBe(fails);
    expect([await pid(), await locksHeld()]).toEqual([before, []]);
  });

  test.each([
    ['is cut', 'cut', false],
    ['is cut after the server heard of it', 'cut', true],
    ['falls silent', 'silence', false],
    ['falls silent after the server heard of it', 'silence', true],
  ] as const)(
    'and whose connection %s when it rolls back: the next one gets a new connection, and nothing stays locked',
    async (_how, then, passOn) => {
      const before = await pid();
      const sprung = proxy.setTrap({ whenSent: 'ROLLBACK\0', passOn, then });
      const begun = Date.now();
      await expect(fail()).rejects.toBe(fails);
      await sprung;
      expect(await pid()).not.toBe(before);
      expect(Date.now() - begun).toBeLessThan(4000);
      expect(await locksHeld()).toEqual([]);
    },
  );
});

import { setTimeout as pause } from 'node:timers/promises';
import { TcpProxy } from '#testing/tcp-proxy';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { newId } from '../ids.ts';
import { createLogger } from '../logging/logger.ts';
import type { Destination } from '#messaging/outbox/destination';
import { OutboxRelay } from '#messaging/outbox/outbox-relay';
import { PostgresOutbox } from '#messaging/outbox/postgres-outbox';
import { openDatabase } from './database.ts';
import { PostgresTransactionManager } from './transaction-manager.ts';
import { inside } from './transaction.ts';

let testDatabase: TestDatabase;
let direct: DataSource;
let proxy: TcpProxy;
/**
 * A pool of one connection: the next transaction gets the connection of the test if that was returned to the pool, else a new
 * one.
 */
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
  await testDatabase.close();
});

const pid = async (): Promise<number> => (await database.query<{ pid: number }[]>('select pg_backend_pid() as pid'))[0]?.pid ?? 0;
const locksHeld = async (): Promise<unknown[]> =>
  direct.query(
    `select pid from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
  );
const failure = new Error('the block fails');

/** Runs a transaction that takes an advisory lock and fails. */
function runFailingTransaction(): Promise<void> {
  const transactions = new PostgresTransactionManager(database, { deadlineMs: 5000 });
  return transactions.run(async (tx) => {
    await inside(tx).rows('select pg_advisory_xact_lock(1)');
    throw failure;
  });
}

/** Runs the outbox relay once with a destination that fails. */
async function runFailingRelay(): Promise<void> {
  const message = { id: newId(), destination: 'email', event: 'test', body: {} };
  await new PostgresTransactionManager(direct, { deadlineMs: 5000 }).run((tx) => new PostgresOutbox().append(tx, [message]));
  const failing: Destination = { name: 'email', batchSize: 10, deliver: () => Promise.reject(failure) };
  await new OutboxRelay(database, failing, createLogger({ service: 'test', level: 'silent' })).runOnce();
}

describe.each([
  ['a transaction that fails', runFailingTransaction],
  ['a run of the relay that fails', runFailingRelay],
])('%s', (_, fail) => {
  test('leaves no lock and gives its connection back to the pool', async () => {
    const before = await pid();
    await expect(fail()).rejects.toBe(failure);
    expect([await pid(), await locksHeld()]).toEqual([before, []]);
  });

  test.each([
    ['breaks before the server receives ROLLBACK', 'cut', false],
    ['breaks after the server received ROLLBACK', 'cut', true],
    ['goes silent before the server receives ROLLBACK', 'silence', false],
    ['goes silent after the server received ROLLBACK', 'silence', true],
  ] as const)(
    'if the connection %s, the next transaction gets a new connection, and no lock remains',
    async (_case, then, passOn) => {
      const before = await pid();
      const sprung = proxy.setTrap({ whenSent: 'ROLLBACK\0', passOn, then });
      const begun = Date.now();
      await expect(fail()).rejects.toBe(failure);
      await sprung;
      expect(await pid()).not.toBe(before);
      expect(Date.now() - begun).toBeLessThan(4000);
      // The server needs a moment to notice that the connection is lost.
      for (const giveUpAt = Date.now() + 5000; (await locksHeld()).length > 0 && Date.now() < giveUpAt; await pause(20));
      expect(await locksHeld()).toEqual([]);
    },
  );
});

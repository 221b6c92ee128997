import type { Transaction } from '#application/transaction-manager';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { ProcessedMarks } from './processed-marks.ts';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '#platform/redis/redis-connection';
import { openDatabase } from '#platform/postgres/database';
import { Inbox, isLedgerOutage } from './delivery-ledger.ts';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { inside } from '#platform/postgres/transaction';

let testDatabase: TestDatabase;
let testRedis: TestRedis;
let database: DataSource;
let redis: RedisConnection;
let transactions: PostgresTransactionManager;
let marks: ProcessedMarks;

beforeAll(async () => {
  [testDatabase, testRedis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  database = await openDatabase({ url: testDatabase.url, name: 'ledger-test' });
  await database.query('create table effects (message_id text)');
  transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
  redis = connectRedis(testRedis.url, { name: 'ledger-test' });
  await whenReady(redis);
  marks = new ProcessedMarks(redis);
});

beforeEach(async () => {
  await database.query('truncate inbox, effects');
  await testRedis.flush();
});

afterAll(async () => {
  await closeRedis(redis);
  await database.destroy();
  await Promise.all([testDatabase.close(), testRedis.close()]);
});

const effect =
  (messageId: string) =>
  async (tx: Transaction): Promise<void> => {
    await inside(tx).rows('insert into effects values ($1)', [messageId]);
  };

async function effects(): Promise<number> {
  const [row] = await database.query<{ count: number }[]>('select count(*)::int as count from effects');
  return row?.count ?? -1;
}

describe('the effect of a message in PostgreSQL', () => {
  test('happens once when its message arrives eight times at the same moment and once more later', async () => {
    const inbox = new Inbox(transactions, marks);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => inbox.once('mail', 'm1', effect('m1'))));
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
    expect(await inbox.once('mail', 'm1', effect('m1'))).toBe('duplicate');
    expect(await effects()).toBe(1);
  });

  test('happens once for each consumer of the message, and Redis remembers for eight days which consumers are done', async () => {
    const inbox = new Inbox(transactions, marks);
    expect(await inbox.once('mail', 'm1', effect('m1'))).toBe('done');
    expect(await inbox.once('push', 'm1', effect('m1'))).toBe('done');
    expect((await redis.smembers('outbox:processed:m1')).sort()).toEqual(['mail', 'push']);
    const ttl = await redis.ttl('outbox:processed:m1');
    expect(ttl).toBeGreaterThan(8 * 86_400 - 60);
    expect(ttl).toBeLessThanOrEqual(8 * 86_400);
  });

  test('is rolled back and not recorded as done when it fails, so that the message can be processed a second time', async () => {
    const inbox = new Inbox(transactions, marks);
    const failing = inbox.once('mail', 'm1', async (tx) => {
      await effect('m1')(tx);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect([await effects(), await redis.exists('outbox:processed:m1')]).toEqual([0, 0]);
    expect(await inbox.once('mail', 'm1', effect('m1'))).toBe('done');
  });

  test('is not repeated: Redis recognises a duplicate message without a query to PostgreSQL, and PostgreSQL recognises it when Redis has lost its data', async () => {
    const inbox = new Inbox(transactions, marks);
    await inbox.once('mail', 'm1', effect('m1'));
    const inboxWithoutPostgres = new Inbox(new NoTransactions(), marks);
    expect(await inboxWithoutPostgres.once('mail', 'm1', effect('m1'))).toBe('duplicate');
    await testRedis.flush();
    expect(await inbox.once('mail', 'm1', effect('m1'))).toBe('duplicate');
    expect(await effects()).toBe(1);
  });

  test.each([
    ['with their marks in Redis', false],
    ['without Redis data', true],
  ])('of several messages together happens for those that were not done before, %s', async (_name, isFlushed) => {
    const inbox = new Inbox(transactions, marks);
    await inbox.once('mail', 'm2', effect('m2'));
    if (isFlushed) await testRedis.flush();
    const seen: string[][] = [];
    const done = await inbox.onceEach('mail', ['m3', 'm2', 'm1'], async (tx, fresh) => {
      seen.push([...fresh].sort());
      for (const id of fresh) await effect(id)(tx);
    });
    expect([[...done].sort(), seen, await effects()]).toEqual([['m1', 'm3'], [['m1', 'm3']], 3]);
    expect(await inbox.onceEach('mail', ['m1', 'm2', 'm3'], () => Promise.reject(new Error('again')))).toEqual(new Set());
  });

  test('of two batches with the same messages in opposite orders happens once', async () => {
    const inbox = new Inbox(transactions);
    const ids = Array.from({ length: 20 }, (_, n) => `m${n}`);
    const work = async (tx: Transaction, fresh: ReadonlySet<string>): Promise<void> => {
      for (const id of fresh) await effect(id)(tx);
    };
    const done = await Promise.all([inbox.onceEach('mail', ids, work), inbox.onceEach('mail', ids.toReversed(), work)]);
    expect([done.reduce((sum, { size }) => sum + size, 0), await effects()]).toEqual([20, 20]);
  });

  test('happens once when Redis is unreachable', async () => {
    const unreachable = connectRedis('redis://127.0.0.1:1', { name: 'unreachable' });
    const inbox = new Inbox(transactions, new ProcessedMarks(unreachable));
    expect(await inbox.once('mail', 'm1', effect('m1'))).toBe('done');
    expect(await inbox.once('mail', 'm1', effect('m1'))).toBe('duplicate');
    expect(await effects()).toBe(1);
    unreachable.disconnect();
  });
});

describe('isLedgerOutage', () => {
  const errorOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'no error',
      (error: unknown) => error,
    );

  test('is true for an unreachable database, an exhausted connection pool, and a connection that breaks inside the transaction', async () => {
    const nowhere = openDatabase({ url: 'postgres://127.0.0.1:1/none', name: 'nowhere' });
    expect(isLedgerOutage(await errorOf(nowhere))).toBe(true);

    const narrow = await openDatabase({ url: testDatabase.url, name: 'narrow', poolSize: 1 });
    const holder = narrow.createQueryRunner();
    await holder.connect();
    const inbox = new Inbox(new PostgresTransactionManager(narrow, { deadlineMs: 10_000 }));
    expect(isLedgerOutage(await errorOf(inbox.once('mail', 'm1', effect('m1'))))).toBe(true);
    await holder.release();

    const cutOff = inbox.once(
      'mail',
      'm1',
      async (tx) => void (await inside(tx).rows('select pg_terminate_backend(pg_backend_pid())')),
    );
    expect(isLedgerOutage(await errorOf(cutOff))).toBe(true);
    await narrow.destroy();
  });

  test('is false for an error that the message itself causes', async () => {
    const inbox = new Inbox(transactions);
    const faulty = inbox.once('mail', 'm1', async (tx) => void (await inside(tx).rows('select 1/0')));
    expect(isLedgerOutage(await errorOf(faulty))).toBe(false);
    expect(isLedgerOutage(new Error('unreadable'))).toBe(false);
  });
});

class NoTransactions extends PostgresTransactionManager {
  constructor() {
    super(database, { deadlineMs: 1 });
  }
  override run(): Promise<never> {
    throw new Error('PostgreSQL must not be used here');
  }
}

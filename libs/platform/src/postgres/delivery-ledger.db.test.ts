import type { Transaction } from '#application/transaction-manager';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { ProcessedMarks } from '../redis/processed-marks.ts';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '../redis/redis-connection.ts';
import { openDatabase } from './database.ts';
import { Inbox, isLedgerOutage } from './delivery-ledger.ts';
import { PostgresTransactionManager } from './transaction-manager.ts';
import { inside } from './transaction.ts';

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
  await Promise.all([testDatabase.drop(), testRedis.close()]);
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

describe('an effect in PostgreSQL', () => {
  test('happens once, however often and however closely together its message comes', async () => {
    const inbox = new Inbox(transactions, marks);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => inbox.once('mail', 'm1', effect('m1'))));
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
    expect(await inbox.once('mail', 'm1', effect('m1'))).toBe('duplicate');
    expect(await effects()).toBe(1);
  });

  test('happens for each consumer of the same message', async () => {
    const inbox = new Inbox(transactions, marks);
    expect(await inbox.once('mail', 'm1', effect('m1'))).toBe('done');
    expect(await inbox.once('push', 'm1', effect('m1'))).toBe('done');
    expect((await redis.smembers('outbox:processed:m1')).sort()).toEqual(['mail', 'push']);
    const ttl = await redis.ttl('outbox:processed:m1');
    expect(ttl).toBeGreaterThan(8 * 86_400 - 60);
    expect(ttl).toBeLessThanOrEqual(8 * 86_400);
  });

  test('is not remembered when it failed', async () => {
    const inbox = new Inbox(transactions, marks);
    const failing = inbox.once('mail', 'm1', async (tx) => {
      await effect('m1')(tx);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect([await effects(), await redis.exists('outbox:processed:m1')]).toEqual([0, 0]);
    expect(await inbox.once('mail', 'm1', effect('m1'))).toBe('done');
  });

  test('the mark in Redis saves the question to PostgreSQL, and its loss changes nothing', async () => {
    const inbox = new Inbox(transactions, marks);
    await inbox.once('mail', 'm1', effect('m1'));
    const closed = new Inbox(new NoTransactions(), marks);
    expect(await closed.once('mail', 'm1', effect('m1'))).toBe('duplicate');
    await testRedis.flush();
    expect(await inbox.once('mail', 'm1', effect('m1'))).toBe('duplicate');
    expect(await effects()).toBe(1);
  });

  test('happens once without Redis', async () => {
    const unreachable = connectRedis('redis://127.0.0.1:1', { name: 'unreachable' });
    const inbox = new Inbox(transactions, new ProcessedMarks(unreachable));
    expect(await inbox.once('mail', 'm1', effect('m1'))).toBe('done');
    expect(await inbox.once('mail', 'm1', effect('m1'))).toBe('duplicate');
    expect(await effects()).toBe(1);
    unreachable.disconnect();
  });
});

describe('an outage', () => {
  const outcome = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'no error',
      (error: unknown) => error,
    );

  test('is a database that is not there, has no connection left, or broke off in the middle', async () => {
    const nowhere = openDatabase({ url: 'postgres://127.0.0.1:1/none', name: 'nowhere' });
    expect(isLedgerOutage(await outcome(nowhere))).toBe(true);

    const narrow = await openDatabase({ url: testDatabase.url, name: 'narrow', poolSize: 1 });
    const holder = narrow.createQueryRunner();
    await holder.connect();
    const inbox = new Inbox(new PostgresTransactionManager(narrow, { deadlineMs: 10_000 }));
    expect(isLedgerOutage(await outcome(inbox.once('mail', 'm1', effect('m1'))))).toBe(true);
    await holder.release();

    const cutOff = inbox.once(
      'mail',
      'm1',
      async (tx) => void (await inside(tx).rows('select pg_terminate_backend(pg_backend_pid())')),
    );
    expect(isLedgerOutage(await outcome(cutOff))).toBe(true);
    await narrow.destroy();
  });

  test('is not a fault of the message', async () => {
    const inbox = new Inbox(transactions);
    const faulty = inbox.once('mail', 'm1', async (tx) => void (await inside(tx).rows('select 1/0')));
    expect(isLedgerOutage(await outcome(faulty))).toBe(false);
    expect(isLedgerOutage(new Error('unreadable'))).toBe(false);
  });
});

class NoTransactions extends PostgresTransactionManager {
  constructor() {
    super(database, { deadlineMs: 1 });
  }
  override run(): Promise<never> {
    throw new Error('PostgreSQL was asked');
  }
}

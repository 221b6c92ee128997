import type { Transaction } from '#application/transaction-manager';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { ProcessedMarks } from '../redis/processed-marks.ts';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '../redis/redis-connection.ts';
import { openDatabase } from './database.ts';
import { Inbox, isLedgerOutage, SendClaims } from './delivery-ledger.ts';
import { SingleStatements } from './single-statements.ts';
import { PostgresTransactionManager } from './transaction-manager.ts';
import { inside } from './transaction.ts';

let testDatabase: TestDatabase;
let testRedis: TestRedis;
let database: DataSource;
let redis: RedisConnection;
let transactions: PostgresTransactionManager;
let marks: ProcessedMarks;
let statements: SingleStatements;

beforeAll(async () => {
  [testDatabase, testRedis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  database = await openDatabase({ url: testDatabase.url, name: 'ledger-test' });
  await database.query('create table effects (message_id text)');
  transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
  statements = new SingleStatements(testDatabase.url, 'ledger-test');
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
  await statements.close();
  await database.destroy();
  await Promise.all([testDatabase.drop(), testRedis.close()]);
});

const effect =
  (messageId: string) =>
  async (tx: Transaction): Promise<void> => {
    await inside(tx).rows('insert into effects values ($1)', [messageId]);
  };

/** The mark is set when nobody waits any more. */
async function eventuallyMarked(messageId: string): Promise<void> {
  while ((await redis.exists(`outbox:processed:${messageId}`)) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function effects(): Promise<number> {
  const [row] = await database.query<{ count: number }[]>('select count(*)::int as count from effects');
  return row?.count ?? -1;
}

/** Nobody is willing to wait 20 s in a test: the claim is made that much older. */
async function outliveLock(): Promise<void> {
  await database.query("update inbox set claimed_at = claimed_at - interval '21 s'");
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

describe('a send to the outside', () => {
  let possible: string[];
  let claims: SendClaims;

  beforeEach(() => {
    possible = [];
    const possibleDuplicates = { inc: ({ consumer }: { consumer?: string | number }) => void possible.push(String(consumer)) };
    claims = new SendClaims(statements, { lockMs: 20_000, marks, possibleDuplicates: possibleDuplicates as never });
  });

  test('two at once: one claims it, the other is told that it is held', async () => {
    const both = await Promise.all([claims.claim('smtp', 'm1'), claims.claim('smtp', 'm1')]);
    expect(both.map(({ kind }) => kind).sort()).toEqual(['claimed', 'held']);
  });

  test('once finished it is never claimed again, with and without the mark in Redis', async () => {
    await claims.claim('smtp', 'm1');
    await claims.finish('smtp', 'm1');
    expect(await claims.claim('smtp', 'm1')).toEqual({ kind: 'finished' });
    await testRedis.flush();
    await outliveLock();
    expect(await claims.claim('smtp', 'm1')).toEqual({ kind: 'finished' });
    expect(possible).toEqual([]);
  });

  test('a known failure frees it: the next claim is no duplicate', async () => {
    for (let send = 0; send < 3; send += 1) {
      const claim = await claims.claim('smtp', 'm1');
      expect(claim).toMatchObject({ kind: 'claimed', possibleDuplicate: false });
      if (claim.kind === 'claimed') await claims.release('smtp', 'm1', claim.token);
    }
    expect(possible).toEqual([]);
  });

  test('a claim nobody finished is claimed again once, counted, and then left to people', async () => {
    await claims.claim('smtp', 'm1');
    expect(await claims.claim('smtp', 'm1')).toEqual({ kind: 'held' });
    await outliveLock();
    expect(await claims.claim('smtp', 'm1')).toMatchObject({ kind: 'claimed', possibleDuplicate: true });
    expect(await claims.claim('smtp', 'm1')).toEqual({ kind: 'held' });
    await outliveLock();
    expect(await claims.claim('smtp', 'm1')).toEqual({ kind: 'uncertain' });
    expect(possible).toEqual(['smtp']);
  });

  test('set back to a backup of before it left, it is known by its mark and not claimed again', async () => {
    await claims.claim('smtp', 'm1');
    await claims.finish('smtp', 'm1');
    await eventuallyMarked('m1');
    await database.query('truncate inbox');
    expect(await claims.claim('smtp', 'm1')).toEqual({ kind: 'finished' });
    await testRedis.flush();
    expect(await claims.claim('smtp', 'm1')).toEqual({ kind: 'finished' });
  });

  test('planned while the ledger was empty, a batch still reads and locks its own rows only', async () => {
    const batches = new SendClaims(statements, { lockMs: 20_000 });
    const round = async (name: string): Promise<string[]> => {
      const ids = Array.from({ length: 20 }, (_, n) => `${name}-${n}`);
      const claimed = await Promise.all(ids.map((id) => batches.claim('smtp', id)));
      await Promise.all(ids.map((id) => batches.finish('smtp', id)));
      return [...claimed, ...(await Promise.all(ids.map((id) => batches.claim('smtp', id))))].map(({ kind }) => kind);
    };
    await database.query('analyze inbox');
    // By its sixth time a prepared statement has a plan for good.
    for (let warm = 0; warm < 6; warm += 1) await round(`warm-${warm}`);
    await database.query(
      `insert into inbox (consumer, message_id, claimed_at, attempts) select 'smtp', gen_random_uuid()::text, now(), 1 from generate_series(1, 5000)`,
    );
    // What a transaction has watched is remembered as long as one that began before its end goes on.
    const watcher = database.createQueryRunner();
    await watcher.startTransaction('SERIALIZABLE');
    await watcher.query('select count(*) from effects');
    expect(new Set(await round('m'))).toEqual(new Set(['claimed', 'finished']));
    const [watched] = await database.query<{ count: number }[]>(
      `select count(*)::int as count from pg_locks where mode = 'SIReadLock' and relation in ('inbox'::regclass, 'inbox_pkey'::regclass, 'inbox_finished_at_idx'::regclass)`,
    );
    await watcher.rollbackTransaction();
    await watcher.release();
    expect(watched?.count).toBeGreaterThan(0);
    expect(watched?.count).toBeLessThan(200);
  }, 30_000);

  test('an id of two lines is refused alone, and those beside it are claimed', async () => {
    const asked = ['m1', 'two\nlines', 'a\ttab', 'm2'].map((id) => claims.claim('mail', id));
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    const rows = await database.query<{ message_id: string }[]>('select message_id from inbox order by 1');
    expect(rows.map(({ message_id }) => message_id)).toEqual(['m1', 'm2']);
  });

  test('of very many at once, new, held, finished and in doubt, each is told what it is', async () => {
    const ids = Array.from({ length: 40 }, (_, n) => `mail-${n}`);
    const state = (n: number): string => ['new', 'held', 'finished', 'left behind'][n % 4] ?? '';
    await Promise.all(ids.filter((_, n) => state(n) === 'left behind').map((id) => claims.claim('mail', id)));
    await outliveLock();
    await Promise.all(ids.filter((_, n) => state(n) === 'held').map((id) => claims.claim('mail', id)));
    await Promise.all(ids.filter((_, n) => state(n) === 'finished').map((id) => claims.finish('mail', id)));
    await testRedis.flush();
    const answers = await Promise.all(ids.map((id) => claims.claim('mail', id)));
    const told = answers.map((claim) => (claim.kind === 'claimed' && claim.possibleDuplicate ? 'again' : claim.kind));
    const expected: Record<string, string> = { new: 'claimed', held: 'held', finished: 'finished', 'left behind': 'again' };
    expect(told).toEqual(ids.map((_, n) => expected[state(n)]));
  });

  test('a frozen sender that wakes up cannot free the claim of the one that took over', async () => {
    const frozen = await claims.claim('smtp', 'm1');
    await outliveLock();
    await claims.claim('smtp', 'm1');
    if (frozen.kind === 'claimed') await claims.release('smtp', 'm1', frozen.token);
    expect(await claims.claim('smtp', 'm1')).toEqual({ kind: 'held' });
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

import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { ProcessedMarks } from '../redis/processed-marks.ts';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '../redis/redis-connection.ts';
import { openDatabase } from './database.ts';
import { SendClaims, type SendClaimOptions } from './send-claims.ts';
import { SingleStatements } from './single-statements.ts';

let testDatabase: TestDatabase;
let testRedis: TestRedis;
let database: DataSource;
let redis: RedisConnection;
let marks: ProcessedMarks;
let statements: SingleStatements;
let possible: string[];
let claims: SendClaims;

const possibleDuplicates = { inc: ({ consumer }: { consumer?: string }) => void possible.push(String(consumer)) };
const ledger = (options: Partial<SendClaimOptions> = {}, over = statements): SendClaims =>
  new SendClaims(over, { consumer: 'smtp', lockMs: 20_000, possibleDuplicates: possibleDuplicates as never, ...options });

beforeAll(async () => {
  [testDatabase, testRedis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  database = await openDatabase({ url: testDatabase.url, name: 'claims-test' });
  await database.query('create table effects (message_id text)');
  statements = new SingleStatements(testDatabase.url, 'claims-test');
  redis = connectRedis(testRedis.url, { name: 'claims-test' });
  await whenReady(redis);
  marks = new ProcessedMarks(redis);
});

beforeEach(async () => {
  await database.query('truncate inbox');
  await testRedis.flush();
  possible = [];
  claims = ledger({ marks });
});

afterAll(async () => {
  await closeRedis(redis);
  await statements.close();
  await database.destroy();
  await Promise.all([testDatabase.drop(), testRedis.close()]);
});

/** The mark is set when nobody waits any more. */
async function eventuallyMarked(messageId: string): Promise<void> {
  while ((await redis.exists(`outbox:processed:${messageId}`)) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Nobody is willing to wait 20 s in a test: the claim is made that much older. */
async function outliveLock(): Promise<void> {
  await database.query("update inbox set claimed_at = claimed_at - interval '21 s'");
}

/** Whose transaction watches what of the ledger. Databases of one template have tables of the same number. */
async function watched(): Promise<Set<string>> {
  const rows = await database.query<{ lock: string }[]>(
    `select concat_ws(' ', virtualtransaction, relation, page, tuple) as lock from pg_locks where mode = 'SIReadLock'
     and database = (select oid from pg_database where datname = current_database())
     and relation in ('inbox'::regclass, 'inbox_pkey'::regclass, 'inbox_finished_at_idx'::regclass)`,
  );
  return new Set(rows.map(({ lock }) => lock));
}

async function send(messageId: string, by = claims): Promise<void> {
  await by.claim(messageId);
  by.finish(messageId);
  await by.settled();
}

describe('a send to the outside', () => {
  test('two at once: one claims it, the other is told that it is held', async () => {
    const both = await Promise.all([claims.claim('m1'), claims.claim('m1')]);
    expect(both.map(({ kind }) => kind).sort()).toEqual(['claimed', 'held']);
  });

  test('once finished it is never claimed again, with and without the mark in Redis', async () => {
    await send('m1');
    expect(await claims.claim('m1')).toEqual({ kind: 'finished' });
    await testRedis.flush();
    await outliveLock();
    expect(await claims.claim('m1')).toEqual({ kind: 'finished' });
    expect(possible).toEqual([]);
  });

  test('a known failure frees it: the next claim is no duplicate', async () => {
    for (let send = 0; send < 3; send += 1) {
      const claim = await claims.claim('m1');
      expect(claim).toMatchObject({ kind: 'claimed', possibleDuplicate: false });
      if (claim.kind === 'claimed') await claims.release('m1', claim.token);
    }
    expect(possible).toEqual([]);
  });

  test('a claim nobody finished is claimed again once, counted, and then left to people', async () => {
    await claims.claim('m1');
    expect(await claims.claim('m1')).toEqual({ kind: 'held' });
    await outliveLock();
    expect(await claims.claim('m1')).toMatchObject({ kind: 'claimed', possibleDuplicate: true });
    expect(await claims.claim('m1')).toEqual({ kind: 'held' });
    await outliveLock();
    expect(await claims.claim('m1')).toEqual({ kind: 'uncertain' });
    expect(possible).toEqual(['smtp']);
  });

  test('set back to a backup of before it left, it is known by its mark and not claimed again', async () => {
    await send('m1');
    await eventuallyMarked('m1');
    await database.query('truncate inbox');
    expect(await claims.claim('m1')).toEqual({ kind: 'finished' });
    await testRedis.flush();
    expect(await claims.claim('m1')).toEqual({ kind: 'finished' });
  });

  test('planned while the ledger was empty, a batch still reads and locks its own rows only', async () => {
    const batches = ledger();
    const round = async (name: string): Promise<string[]> => {
      const ids = Array.from({ length: 20 }, (_, n) => `${name}-${n}`);
      const claimed = await Promise.all(ids.map((id) => batches.claim(id)));
      for (const id of ids) batches.finish(id);
      await batches.settled();
      return [...claimed, ...(await Promise.all(ids.map((id) => batches.claim(id))))].map(({ kind }) => kind);
    };
    await database.query('analyze inbox');
    // By its sixth time a prepared statement has a plan for good.
    for (let warm = 0; warm < 6; warm += 1) await round(`warm-${warm}`);
    await database.query(
      `insert into inbox (consumer, message_id, claimed_at, attempts) select 'smtp', gen_random_uuid()::text, now(), 1 from generate_series(1, 5000)`,
    );
    // What a transaction has watched is remembered as long as one that began before its end goes on, anywhere on the server:
    // the warm rounds may still be among it.
    const watcher = database.createQueryRunner();
    await watcher.startTransaction('SERIALIZABLE');
    await watcher.query('select count(*) from effects');
    const before = await watched();
    expect(new Set(await round('m'))).toEqual(new Set(['claimed', 'finished']));
    const count = [...(await watched())].filter((lock) => !before.has(lock)).length;
    await watcher.rollbackTransaction();
    await watcher.release();
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(200);
  }, 30_000);

  test('an id of two lines is refused alone, and those beside it are claimed', async () => {
    const asked = ['m1', 'two\nlines', 'a\ttab', 'a NUL \0', 'm2'].map((id) => claims.claim(id));
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled']);
    const rows = await database.query<{ message_id: string }[]>('select message_id from inbox order by 1');
    expect(rows.map(({ message_id }) => message_id)).toEqual(['m1', 'm2']);
  });

  test('of very many at once, new, held, finished and in doubt, each is told what it is', async () => {
    const ids = Array.from({ length: 40 }, (_, n) => `mail-${n}`);
    const state = (n: number): string => ['new', 'held', 'finished', 'left behind'][n % 4] ?? '';
    await Promise.all(ids.filter((_, n) => state(n) === 'left behind').map((id) => claims.claim(id)));
    await outliveLock();
    await Promise.all(ids.filter((_, n) => state(n) === 'held').map((id) => claims.claim(id)));
    for (const id of ids.filter((_, n) => state(n) === 'finished')) claims.finish(id);
    await claims.settled();
    await testRedis.flush();
    const answers = await Promise.all(ids.map((id) => claims.claim(id)));
    const told = answers.map((claim) => (claim.kind === 'claimed' && claim.possibleDuplicate ? 'again' : claim.kind));
    const expected: Record<string, string> = { new: 'claimed', held: 'held', finished: 'finished', 'left behind': 'again' };
    expect(told).toEqual(ids.map((_, n) => expected[state(n)]));
  });

  test('a frozen sender that wakes up cannot free the claim of the one that took over', async () => {
    const frozen = await claims.claim('m1');
    await outliveLock();
    await claims.claim('m1');
    if (frozen.kind === 'claimed') await claims.release('m1', frozen.token);
    expect(await claims.claim('m1')).toEqual({ kind: 'held' });
  });

  test('the end of a send is said until PostgreSQL has heard it, and known here meanwhile', async () => {
    const away = new StatementsAway(testDatabase.url, 'claims-away');
    const sender = ledger({}, away);
    await sender.claim('m1');
    away.isAway = true;
    sender.finish('m1');
    await outliveLock();
    expect(await sender.claim('m1')).toEqual({ kind: 'finished' });
    away.isAway = false;
    await sender.settled();
    expect(await claims.claim('m1')).toEqual({ kind: 'finished' });
    expect(possible).toEqual([]);
    await away.close();
  });

  test('a process that stops waits for the ends of its sends, and not for a PostgreSQL that stays away', async () => {
    const away = new StatementsAway(testDatabase.url, 'claims-away');
    const sender = ledger({ marks }, away);
    await sender.claim('m1');
    away.isAway = true;
    sender.finish('m1');
    const from = performance.now();
    await sender.settled(100);
    expect(performance.now() - from).toBeLessThan(1000);
    // What it could not say stands in the mark; without that it would be a possible duplicate, and counted.
    await outliveLock();
    expect(await ledger().claim('m1')).toMatchObject({ kind: 'claimed', possibleDuplicate: true });
    expect(await claims.claim('m1')).toEqual({ kind: 'finished' });
    expect(possible).toEqual(['smtp']);
    await away.close();
  });
});

class StatementsAway extends SingleStatements {
  isAway = false;
  override rows<T>(sql: string, parameters: readonly unknown[]): Promise<T[]> {
    return this.isAway ? Promise.reject(new Error('Connection terminated')) : super.rows(sql, parameters);
  }
}

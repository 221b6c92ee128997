import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { ProcessedMarks } from './processed-marks.ts';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '#platform/redis/redis-connection';
import { openDatabase } from '#platform/postgres/database';
import { SendClaims, type SendClaimOptions } from './send-claims.ts';
import type { PreparedStatement } from '#platform/postgres/named-sql';
import { SingleStatements } from '#platform/postgres/single-statements';

let testDatabase: TestDatabase;
let testRedis: TestRedis;
let database: DataSource;
let redis: RedisConnection;
let marks: ProcessedMarks;
let statements: SingleStatements;
let countedDuplicates: string[];
let claims: SendClaims;

const possibleDuplicates = { inc: ({ consumer }: { consumer?: string }) => void countedDuplicates.push(String(consumer)) };
const openClaims = (options: Partial<SendClaimOptions> = {}, through = statements): SendClaims =>
  new SendClaims(through, { consumer: 'smtp', lockMs: 20_000, possibleDuplicates: possibleDuplicates as never, ...options });

beforeAll(async () => {
  [testDatabase, testRedis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  database = await openDatabase({ url: testDatabase.url, name: 'claims-test' });
  await database.query('create table effects (message_id text)');
  statements = new SingleStatements(testDatabase.url, 'claims-test', { onRetry: () => undefined });
  redis = connectRedis(testRedis.url, { name: 'claims-test' });
  await whenReady(redis);
  marks = new ProcessedMarks(redis);
});

beforeEach(async () => {
  await database.query('truncate inbox');
  await testRedis.flush();
  countedDuplicates = [];
  claims = openClaims({ marks });
});

afterAll(async () => {
  await closeRedis(redis);
  await statements.close();
  await database.destroy();
  await Promise.all([testDatabase.close(), testRedis.close()]);
});

/** Waits until Redis has the mark that the message was sent. `finish` does not wait for this mark. */
async function eventuallyMarked(messageId: string): Promise<void> {
  while ((await redis.exists(`outbox:processed:${messageId}`)) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Makes all claims 21 s older, so that their lock of 20 s has expired. */
async function expireLocks(): Promise<void> {
  await database.query("update inbox set claimed_at = claimed_at - interval '21 s'");
}

/**
 * The predicate locks (SIReadLock) on the table `inbox` and its indexes, with their transactions. The query is limited to this
 * database, because databases of one template have tables with the same OIDs.
 */
async function predicateLocks(): Promise<Set<string>> {
  const rows = await database.query<{ lock: string }[]>(
    `select concat_ws(' ', virtualtransaction, relation, page, tuple) as lock from pg_locks where mode = 'SIReadLock'
     and database = (select oid from pg_database where datname = current_database())
     and relation in ('inbox'::regclass, 'inbox_pkey'::regclass, 'inbox_finished_at_idx'::regclass)`,
  );
  return new Set(rows.map(({ lock }) => lock));
}

async function claimAndFinish(messageId: string): Promise<void> {
  await claims.claim(messageId);
  claims.finish(messageId);
  await claims.settled();
}

describe('a message that a provider sends', () => {
  test('is claimed by one of two concurrent claims; the answer to the other claim is `held`', async () => {
    const both = await Promise.all([claims.claim('m1'), claims.claim('m1')]);
    expect(both.map(({ kind }) => kind).sort()).toEqual(['claimed', 'held']);
  });

  test('cannot be claimed again after it was finished, with or without its mark in Redis', async () => {
    await claimAndFinish('m1');
    expect(await claims.claim('m1')).toEqual({ kind: 'finished' });
    await testRedis.flush();
    await expireLocks();
    expect(await claims.claim('m1')).toEqual({ kind: 'finished' });
    expect(countedDuplicates).toEqual([]);
  });

  test('can be claimed again after its claim was released, which is not counted as a possible duplicate', async () => {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const claim = await claims.claim('m1');
      expect(claim).toMatchObject({ kind: 'claimed', possibleDuplicate: false });
      if (claim.kind === 'claimed') await claims.release('m1', claim.token);
    }
    expect(countedDuplicates).toEqual([]);
  });

  test('that was claimed but never finished can be claimed once more, counted as a possible duplicate, and is then `uncertain`', async () => {
    await claims.claim('m1');
    expect(await claims.claim('m1')).toEqual({ kind: 'held' });
    await expireLocks();
    expect(await claims.claim('m1')).toMatchObject({ kind: 'claimed', possibleDuplicate: true });
    expect(await claims.claim('m1')).toEqual({ kind: 'held' });
    await expireLocks();
    expect(await claims.claim('m1')).toEqual({ kind: 'uncertain' });
    expect(countedDuplicates).toEqual(['smtp']);
  });

  test('is known as finished by its mark in Redis when PostgreSQL was restored from an older backup', async () => {
    await claimAndFinish('m1');
    await eventuallyMarked('m1');
    await database.query('truncate inbox');
    expect(await claims.claim('m1')).toEqual({ kind: 'finished' });
    await testRedis.flush();
    expect(await claims.claim('m1')).toEqual({ kind: 'finished' });
  });

  test('is claimed with predicate locks only on rows of its batch, even if the statement was planned while the table inbox was empty', async () => {
    const batches = openClaims();
    const claimTwice = async (name: string): Promise<string[]> => {
      const ids = Array.from({ length: 20 }, (_, n) => `${name}-${n}`);
      const claimed = await Promise.all(ids.map((id) => batches.claim(id)));
      for (const id of ids) batches.finish(id);
      await batches.settled();
      return [...claimed, ...(await Promise.all(ids.map((id) => batches.claim(id))))].map(({ kind }) => kind);
    };
    await database.query('analyze inbox');
    // From its sixth execution on a prepared statement may keep a generic plan.
    for (let run = 0; run < 6; run += 1) await claimTwice(`warm-up-${run}`);
    await database.query(
      `insert into inbox (consumer, message_id, claimed_at, attempts) select 'smtp', gen_random_uuid()::text, now(), 1 from generate_series(1, 5000)`,
    );
    // PostgreSQL keeps the predicate locks of a committed transaction while an overlapping transaction is open anywhere on the
    // server. So the locks of the warm-up may still exist, and only new ones count.
    const overlapping = database.createQueryRunner();
    await overlapping.startTransaction('SERIALIZABLE');
    await overlapping.query('select count(*) from effects');
    const before = await predicateLocks();
    expect(new Set(await claimTwice('m'))).toEqual(new Set(['claimed', 'finished']));
    const count = [...(await predicateLocks())].filter((lock) => !before.has(lock)).length;
    await overlapping.rollbackTransaction();
    await overlapping.release();
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(200);
  }, 30_000);

  test('is refused if its id contains a line break, a tab or NUL; the other messages of its batch are claimed', async () => {
    const requested = ['m1', 'two\nlines', 'a\ttab', 'a NUL \0', 'm2'].map((id) => claims.claim(id));
    const outcomes = await Promise.allSettled(requested);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled']);
    const rows = await database.query<{ message_id: string }[]>('select message_id from inbox order by 1');
    expect(rows.map(({ message_id }) => message_id)).toEqual(['m1', 'm2']);
  });

  test('gets its own answer in a batch of 40 messages that are new, held, finished or abandoned', async () => {
    const ids = Array.from({ length: 40 }, (_, n) => `mail-${n}`);
    const state = (n: number): string => ['new', 'held', 'finished', 'abandoned'][n % 4] ?? '';
    await Promise.all(ids.filter((_, n) => state(n) === 'abandoned').map((id) => claims.claim(id)));
    await expireLocks();
    await Promise.all(ids.filter((_, n) => state(n) === 'held').map((id) => claims.claim(id)));
    for (const id of ids.filter((_, n) => state(n) === 'finished')) claims.finish(id);
    await claims.settled();
    await testRedis.flush();
    const answers = await Promise.all(ids.map((id) => claims.claim(id)));
    const kinds = answers.map((claim) => (claim.kind === 'claimed' && claim.possibleDuplicate ? 'again' : claim.kind));
    const expected: Record<string, string> = { new: 'claimed', held: 'held', finished: 'finished', abandoned: 'again' };
    expect(kinds).toEqual(ids.map((_, n) => expected[state(n)]));
  });

  test('that was claimed a second time cannot be released with the token of its first claim', async () => {
    const frozen = await claims.claim('m1');
    await expireLocks();
    await claims.claim('m1');
    if (frozen.kind === 'claimed') await claims.release('m1', frozen.token);
    expect(await claims.claim('m1')).toEqual({ kind: 'held' });
  });

  test('is marked in Redis at once when it is finished; its row is written with the next claims', async () => {
    const counted = new CountedStatements(testDatabase.url, 'claims-counted', { onRetry: () => undefined });
    const sender = openClaims({ marks }, counted);
    const ids = ['m1', 'm2', 'm3'];
    await Promise.all(ids.map((id) => sender.claim(id)));
    for (const id of ids) {
      sender.finish(id);
      await eventuallyMarked(id);
    }
    expect(counted.runs).toBe(1);
    await sender.claim('m4');
    expect(counted.runs).toBe(2);
    const rows = await database.query<{ message_id: string }[]>('select message_id from inbox where finished_at is not null');
    expect(rows.map(({ message_id }) => message_id).sort()).toEqual(ids);
    await counted.close();
  });

  test('has a finished row a moment after it was finished, although no claim follows', async () => {
    await claims.claim('m1');
    claims.finish('m1');
    const finished = async () => (await database.query('select from inbox where finished_at is not null')).length;
    while ((await finished()) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  });

  test('that is finished during an outage of PostgreSQL is finished at once for this process, and in PostgreSQL after the outage', async () => {
    const interrupted = new InterruptedStatements(testDatabase.url, 'claims-interrupted', { onRetry: () => undefined });
    const sender = openClaims({}, interrupted);
    await sender.claim('m1');
    interrupted.isDown = true;
    sender.finish('m1');
    await expireLocks();
    expect(await sender.claim('m1')).toEqual({ kind: 'finished' });
    interrupted.isDown = false;
    await sender.settled();
    expect(await claims.claim('m1')).toEqual({ kind: 'finished' });
    expect(countedDuplicates).toEqual([]);
    await interrupted.close();
  });

  test('whose finish PostgreSQL cannot store delays the stop of a process only until the timeout; its mark in Redis says that it was sent', async () => {
    const interrupted = new InterruptedStatements(testDatabase.url, 'claims-interrupted', { onRetry: () => undefined });
    const sender = openClaims({ marks }, interrupted);
    await sender.claim('m1');
    interrupted.isDown = true;
    sender.finish('m1');
    const startedAt = performance.now();
    await sender.settled(100);
    expect(performance.now() - startedAt).toBeLessThan(1000);
    // Without the mark a new claim would be counted as a possible duplicate.
    await expireLocks();
    expect(await openClaims().claim('m1')).toMatchObject({ kind: 'claimed', possibleDuplicate: true });
    expect(await claims.claim('m1')).toEqual({ kind: 'finished' });
    expect(countedDuplicates).toEqual(['smtp']);
    await interrupted.close();
  });
});

/** Statements that fail with a connection error while `isDown` is true. */
class InterruptedStatements extends SingleStatements {
  isDown = false;
  override rows<T>(statement: PreparedStatement): Promise<T[]> {
    return this.isDown ? Promise.reject(new Error('Connection terminated')) : super.rows(statement);
  }
}

/** Counts how many statements were run. */
class CountedStatements extends SingleStatements {
  runs = 0;
  override rows<T>(statement: PreparedStatement): Promise<T[]> {
    this.runs += 1;
    return super.rows(statement);
  }
}

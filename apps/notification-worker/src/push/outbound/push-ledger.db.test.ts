import { newId } from '#platform/ids';
import { PostgresOutbox } from '#platform/outbox/postgres-outbox';
import { openDatabase } from '#platform/postgres/database';
import { SingleStatements } from '#platform/postgres/single-statements';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { PushLedger, type PushClaim } from './push-ledger.ts';

// The ledger by itself, step by step: nothing here depends on who is faster.

const LOCK_SECONDS = 20;
const DEVICES = 5;
const nothing = { done: [], deadTokens: [], refused: 0 };

let testDatabase: TestDatabase;
let database: DataSource;
let statements: SingleStatements;
let doubts: number;
let ledger: PushLedger;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, name: 'push-ledger-test' });
  statements = new SingleStatements(testDatabase.url, 'push-ledger-test-statements');
  const transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
  ledger = new PushLedger(statements, transactions, new PostgresOutbox(), {
    lockMs: LOCK_SECONDS * 1000,
    possibleDuplicates: { inc: (_labels: unknown, count = 1): void => void (doubts += count) } as never,
  });
});
beforeEach(() => void (doubts = 0));
afterAll(async () => {
  await Promise.all([statements.close(), database.destroy()]);
  await testDatabase.drop();
});

const claim = (messageId: string): Promise<PushClaim> => ledger.claim({ messageId, devices: DEVICES });
async function claimed(messageId: string): Promise<{ holder: string; done: number[] }> {
  const answer = await claim(messageId);
  if (answer.kind !== 'claimed') throw new Error(`it is ${answer.kind}`);
  return { holder: answer.holder, done: [...answer.done].sort() };
}
/** As if so much time had passed since the holder last said something. */
const pass = (messageId: string, seconds: number): Promise<unknown> =>
  database.query('update push_progress set claimed_at = claimed_at - make_interval(secs => $2) where message_id = $1', [
    messageId,
    seconds,
  ]);

test('while one has a job in hand, everybody else finds it held', async () => {
  const id = newId();
  await claimed(id);
  expect([await claim(id), await claim(id)]).toEqual([{ kind: 'held' }, { kind: 'held' }]);
  await pass(id, LOCK_SECONDS - 5);
  expect(await claim(id)).toEqual({ kind: 'held' });
  expect(doubts).toBe(0);
});

test('a claim that meets another one before its commit waits for it, and finds the job held', async () => {
  const id = newId();
  const other = new pg.Client({ connectionString: testDatabase.url });
  await other.connect();
  try {
    await other.query('begin');
    await other.query(
      `insert into push_progress (message_id, devices, holder, claimed_at) values ($1, $2, $3, clock_timestamp())`,
      [id, DEVICES, newId()],
    );
    const waiting = claim(id);
    // It stands behind the other's row now.
    for (let waits = 0; waits === 0;) {
      const [row] = await database.query<{ n: number }[]>(
        `select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and query like '%insert into push_progress%'`,
      );
      waits = row?.n ?? 0;
    }
    await other.query('commit');
    expect(await waiting).toEqual({ kind: 'held' });
  } finally {
    await other.end();
  }
});

test('of eight claims of a new job at once one has it', async () => {
  const id = newId();
  const kinds = (await Promise.all(Array.from({ length: 8 }, () => claim(id)))).map(({ kind }) => kind);
  expect(kinds.sort()).toEqual(['claimed', ...Array.from({ length: 7 }, () => 'held')]);
});

test('a holder that has been silent for longer than the lock lives is replaced; what it left undone may be sent twice', async () => {
  const id = newId();
  const first = await claimed(id);
  await ledger.note(id, first.holder, { ...nothing, done: [0, 3] }, 'go on');
  await pass(id, LOCK_SECONDS + 1);
  const second = await claimed(id);
  expect([second.done, second.holder === first.holder, doubts]).toEqual([[0, 3], false, 3]);
  expect(await claim(id)).toEqual({ kind: 'held' });
});

test('a holder that says something keeps the job for another full lock', async () => {
  const id = newId();
  const { holder } = await claimed(id);
  await pass(id, LOCK_SECONDS - 5);
  expect(await ledger.note(id, holder, nothing, 'go on')).toBe(true);
  await pass(id, LOCK_SECONDS - 5);
  expect(await claim(id)).toEqual({ kind: 'held' });
});

test('a holder that was replaced is told so; what it has done counts, and its end lets nobody else in', async () => {
  const id = newId();
  const first = await claimed(id);
  await pass(id, LOCK_SECONDS + 1);
  const second = await claimed(id);
  await pass(id, LOCK_SECONDS - 5);
  expect(await ledger.note(id, first.holder, { ...nothing, done: [1] }, 'go on')).toBe(false);
  expect(await ledger.note(id, first.holder, { ...nothing, done: [2] }, 'release')).toBe(false);
  expect(await claim(id)).toEqual({ kind: 'held' });
  // What the first said does not make the second look alive.
  await pass(id, 6);
  const third = await claimed(id);
  expect([third.done, third.holder === second.holder]).toEqual([[1, 2], false]);
});

test('released, a job goes on where it stopped, and nothing is in doubt', async () => {
  const id = newId();
  const { holder } = await claimed(id);
  expect(await ledger.note(id, holder, { ...nothing, done: [4] }, 'release')).toBe(true);
  expect([(await claimed(id)).done, doubts]).toEqual([[4], 0]);
});

test('a finished job is never in anybody’s hands again', async () => {
  const id = newId();
  const { holder } = await claimed(id);
  await ledger.note(id, holder, { ...nothing, done: [0, 1, 2, 3, 4] }, 'finish');
  await pass(id, LOCK_SECONDS * 10);
  expect([await claim(id), doubts]).toEqual([{ kind: 'finished' }, 0]);
});

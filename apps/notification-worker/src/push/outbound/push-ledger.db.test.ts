import { newId } from '#platform/ids';
import { PostgresOutbox } from '#messaging/outbox/postgres-outbox';
import { openDatabase } from '#platform/postgres/database';
import { SingleStatements } from '#platform/postgres/single-statements';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { PushLedger, type PushClaim } from './push-ledger.ts';

// Tests of the ledger of pushes (the table `push_progress`). Each test runs the ledger step by step, so no result depends on
// timing.

const LOCK_SECONDS = 20;
const DEVICES = 5;
const noProgress = { done: [], deadTokens: [], refused: 0 };

let testDatabase: TestDatabase;
let database: DataSource;
let statements: SingleStatements;
let duplicatesCounted: number;
let ledger: PushLedger;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, name: 'push-ledger-test' });
  statements = new SingleStatements(testDatabase.url, 'push-ledger-test-statements', { onRetry: () => undefined });
  const transactions = new PostgresTransactionManager(database, { deadlineMs: 10_000 });
  ledger = new PushLedger(statements, transactions, new PostgresOutbox(), {
    lockMs: LOCK_SECONDS * 1000,
    possibleDuplicates: { inc: (_labels: unknown, count = 1): void => void (duplicatesCounted += count) } as never,
  });
});
beforeEach(() => void (duplicatesCounted = 0));
afterAll(async () => {
  await Promise.all([statements.close(), database.destroy()]);
  await testDatabase.close();
});

const claim = (messageId: string): Promise<PushClaim> => ledger.claim(messageId, DEVICES);
async function claimOrFail(messageId: string): Promise<{ holder: string; done: number[] }> {
  const answer = await claim(messageId);
  if (answer.kind !== 'claimed') throw new Error(`the claim was answered with ${answer.kind}`);
  return { holder: answer.holder, done: [...answer.done].sort() };
}
/** Makes the last update of the job older by `seconds`, as if that much time had passed. */
const passTime = (messageId: string, seconds: number): Promise<unknown> =>
  database.query('update push_progress set claimed_at = claimed_at - make_interval(secs => $2) where message_id = $1', [
    messageId,
    seconds,
  ]);

test('until the lock of a claimed job expires, all other claims of the job are answered with `held`', async () => {
  const id = newId();
  await claimOrFail(id);
  expect([await claim(id), await claim(id)]).toEqual([{ kind: 'held' }, { kind: 'held' }]);
  await passTime(id, LOCK_SECONDS - 5);
  expect(await claim(id)).toEqual({ kind: 'held' });
  expect(duplicatesCounted).toBe(0);
});

test('a claim of a job waits for another claim that is not committed yet, and is then answered with `held`', async () => {
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
    // Poll until the claim waits for the row lock of the other claim.
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

test('of eight simultaneous claims of a new push job exactly one succeeds', async () => {
  const id = newId();
  const kinds = (await Promise.all(Array.from({ length: 8 }, () => claim(id)))).map(({ kind }) => kind);
  expect(kinds.sort()).toEqual(['claimed', ...Array.from({ length: 7 }, () => 'held')]);
});

test('a job whose holder wrote nothing until its lock expired can be claimed by another worker; its devices without a result count as possible duplicates', async () => {
  const id = newId();
  const first = await claimOrFail(id);
  await ledger.recordProgress(id, first.holder, { ...noProgress, done: [0, 3] }, 'continue');
  await passTime(id, LOCK_SECONDS + 1);
  const second = await claimOrFail(id);
  expect([second.done, second.holder === first.holder, duplicatesCounted]).toEqual([[0, 3], false, 3]);
  expect(await claim(id)).toEqual({ kind: 'held' });
});

test('a worker that records progress extends its lock of the job to the full time', async () => {
  const id = newId();
  const { holder } = await claimOrFail(id);
  await passTime(id, LOCK_SECONDS - 5);
  expect(await ledger.recordProgress(id, holder, noProgress, 'continue')).toBe(true);
  await passTime(id, LOCK_SECONDS - 5);
  expect(await claim(id)).toEqual({ kind: 'held' });
});

test('when another worker has claimed the job, recordProgress of the old worker returns false: its progress is stored, but its release does not free the job', async () => {
  const id = newId();
  const first = await claimOrFail(id);
  await passTime(id, LOCK_SECONDS + 1);
  const second = await claimOrFail(id);
  await passTime(id, LOCK_SECONDS - 5);
  expect(await ledger.recordProgress(id, first.holder, { ...noProgress, done: [1] }, 'continue')).toBe(false);
  expect(await ledger.recordProgress(id, first.holder, { ...noProgress, done: [2] }, 'release')).toBe(false);
  expect(await claim(id)).toEqual({ kind: 'held' });
  // Progress that the first holder records does not extend the lock of the second holder.
  await passTime(id, 6);
  const third = await claimOrFail(id);
  expect([third.done, third.holder === second.holder]).toEqual([[1, 2], false]);
});

test('the next claim of a released job continues with the devices without a result, and no possible duplicates are counted', async () => {
  const id = newId();
  const { holder } = await claimOrFail(id);
  expect(await ledger.recordProgress(id, holder, { ...noProgress, done: [4] }, 'release')).toBe(true);
  expect([(await claimOrFail(id)).done, duplicatesCounted]).toEqual([[4], 0]);
});

test('a finished job can never be claimed again', async () => {
  const id = newId();
  const { holder } = await claimOrFail(id);
  await ledger.recordProgress(id, holder, { ...noProgress, done: [0, 1, 2, 3, 4] }, 'finish');
  await passTime(id, LOCK_SECONDS * 10);
  expect([await claim(id), duplicatesCounted]).toEqual([{ kind: 'finished' }, 0]);
});

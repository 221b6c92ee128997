import type { SharedWork, Transaction } from '#application/transaction-manager';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { requestContext, type RequestKey } from '../logging/request-context.ts';
import { openDatabase } from './database.ts';
import { KeyAlreadyUsed } from '#application/idempotency-key';
import { PostgresTransactionManager } from './transaction-manager.ts';
import { inside } from './transaction.ts';

/** The result of the command "write a word", with the transaction that wrote it. */
type Written = { readonly word: string; readonly tx: string };

let testDatabase: TestDatabase;
let database: DataSource;
let retried: string[];
let batches: string[][];
let transactions: PostgresTransactionManager;
let write: (word: string) => Promise<Written>;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, name: 'shared-commands-test', poolSize: 6 });
  await database.query('create table words (word text primary key check (word <> $$bad$$))');
});

beforeEach(async () => {
  await database.query('truncate words, idempotency_keys');
  [retried, batches] = [[], []];
  transactions = new PostgresTransactionManager(database, {
    deadlineMs: 20_000,
    retries: { inc: (labels: { sqlstate: string }) => void retried.push(labels.sqlstate) } as never,
    sleep: () => Promise.resolve(),
  });
  write = transactions.together(writing());
});

afterAll(async () => {
  await database.destroy();
  await testDatabase.close();
});

/**
 * A kind of command that inserts a word. `many` runs a batch of commands, `one` a single command. `many` does not execute words
 * that begin with `odd`, so each of these gets a transaction of its own.
 */
function writing(beforeInsert: (tx: Transaction, words: readonly string[]) => Promise<unknown> = () => Promise.resolve()) {
  const insert = (tx: Transaction, words: readonly string[]) =>
    inside(tx).rows('insert into words select unnest($1::text[])', [words]);
  return {
    many: async (tx, words) => {
      batches.push([...words]);
      await beforeInsert(tx, words);
      const plain = words.filter((word) => !word.startsWith('odd'));
      await insert(tx, plain);
      return words.map((word) => (plain.includes(word) ? { word, tx: tx.id } : undefined));
    },
    one: async (tx, word) => {
      await insert(tx, [word]);
      return { word, tx: tx.id };
    },
  } satisfies SharedWork<string, Written>;
}

async function words(): Promise<string[]> {
  const rows = await database.query<{ word: string }[]>('select word from words order by word');
  return rows.map(({ word }) => word);
}

const outcomes = async (all: readonly Promise<Written>[]): Promise<string[]> =>
  (await Promise.allSettled(all)).map((result) =>
    result.status === 'fulfilled' ? result.value.word : (result.reason as Error).message,
  );

test('commands that arrive at the same time share one transaction', async () => {
  const written = await Promise.all(['a', 'b', 'c'].map(write));
  expect(written.map(({ word }) => word)).toEqual(['a', 'b', 'c']);
  expect(new Set(written.map(({ tx }) => tx)).size).toBe(1);
  expect([batches, await words()]).toEqual([[['a', 'b', 'c']], ['a', 'b', 'c']]);
});

test('commands that arrive while a batch runs share the next batch', async () => {
  let [reportStart, release] = [(): void => undefined, (): void => undefined];
  const started = new Promise<void>((resolve) => (reportStart = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  write = transactions.together(writing(() => (reportStart(), released)));
  const first = write('a');
  await started;
  const later = ['b', 'c'].map(write);
  release();
  await Promise.all([first, ...later]);
  expect(batches).toEqual([['a'], ['b', 'c']]);
});

test('batches of two kinds of commands never run at the same time', async () => {
  let open = 0;
  let maxOpen = 0;
  const counting = writing(async (tx) => {
    maxOpen = Math.max(maxOpen, (open += 1));
    await inside(tx).rows('select pg_sleep(0.02)');
    open -= 1;
  });
  const [runFirstKind, runSecondKind] = [transactions.together(counting), transactions.stepTogether(counting)];
  await Promise.all(['a', 'b', 'c', 'd'].map((word, index) => (index % 2 === 0 ? runFirstKind(word) : runSecondKind(word))));
  expect([maxOpen, await words()]).toEqual([1, ['a', 'b', 'c', 'd']]);
});

test('commands of two kinds that arrive together run in two batches, each with the statements of its kind', async () => {
  const calls: string[][] = [];
  const kind = (name: string) =>
    transactions.together<string, Written>({
      ...writing(),
      many: (tx, commands) => {
        calls.push([name, ...commands]);
        return writing().many(tx, commands);
      },
    });
  const [writeFirst, writeSecond] = [kind('first kind'), kind('second kind')];
  await Promise.all([writeFirst('a'), writeSecond('b'), writeFirst('c'), writeSecond('d')]);
  expect(calls).toEqual([
    ['first kind', 'a', 'c'],
    ['second kind', 'b', 'd'],
  ]);
});

test('a command for which `many`, which runs the batch, returns undefined runs in a transaction of its own', async () => {
  const [a, odd, b] = await Promise.all(['a', 'odd', 'b'].map(write));
  expect([a?.tx === b?.tx, odd?.tx === a?.tx]).toEqual([true, false]);
  expect(await words()).toEqual(['a', 'b', 'odd']);
});

test('when one command makes its batch fail, that command is rejected and every other command of the batch runs in a transaction of its own', async () => {
  expect(await outcomes(['a', 'bad', 'b'].map(write))).toEqual(['a', expect.stringContaining('violates check constraint'), 'b']);
  expect([batches, await words(), retried]).toEqual([[['a', 'bad', 'b']], ['a', 'b'], ['23514']]);
});

test('a batch with a serialization failure is retried as a whole and executes each command once', async () => {
  let attempts = 0;
  write = transactions.together(
    writing(async (tx) => {
      attempts += 1;
      if (attempts === 1) await inside(tx).rows(`do $$ begin raise exception 'no' using errcode = '40001'; end $$`);
    }),
  );
  const written = await Promise.all(['a', 'b'].map(write));
  expect(new Set(written.map(({ tx }) => tx)).size).toBe(1);
  expect([batches.length, retried, await words()]).toEqual([2, ['40001'], ['a', 'b']]);
});

test('a lost connection rejects all commands of the batch without a retry, and the next command succeeds', async () => {
  const failing = transactions.together(writing((tx) => inside(tx).rows('select pg_terminate_backend(pg_backend_pid())')));
  expect(await outcomes(['a', 'b'].map(failing))).toEqual([expect.stringMatching(/terminat/), expect.stringMatching(/terminat/)]);
  expect([batches.length, await words()]).toEqual([1, []]);
  expect(await outcomes([write('c')])).toEqual(['c']);
});

test('a command for a batch is refused inside an open transaction', async () => {
  await expect(transactions.run(() => write('a'))).rejects.toThrow('inside a transaction');
});

test('of two commands in a batch, the one with less than 2 s until its deadline is refused and the other one succeeds', async () => {
  const late = requestContext.run({ requestId: 'r', deadlineAt: Date.now() + 1500 }, () => write('late'));
  const [refused, done] = await Promise.allSettled([late, write('a')]);
  expect([refused, done.status, await words()]).toEqual([
    { status: 'rejected', reason: expect.objectContaining({ code: 'LOCK_TIMEOUT' }) },
    'fulfilled',
    ['a'],
  ]);
});

describe('idempotency keys in a shared transaction', () => {
  const USER = '8d7f1bb4-5a3e-4a43-9c77-9b46c8a5f001';
  const idempotencyKeyOf = (key: string): RequestKey => ({
    key,
    userId: USER,
    fingerprint: `print of ${key}`,
    render: (written) => ({ status: 201, body: JSON.stringify((written as Written).word) }),
  });
  const writeWithKey = (word: string, requestKey: RequestKey, run = write): Promise<Written> =>
    requestContext.run({ requestId: word, deadlineAt: Date.now() + 20_000, requestKey }, () => run(word));
  const keys = (): Promise<{ key: string; body: string }[]> =>
    database.query('select key, status, body, fingerprint from idempotency_keys order by key');
  const storedRow = (key: string, word: string) => ({ key, status: 201, body: `"${word}"`, fingerprint: `print of ${key}` });

  test('the answer of each command is stored with its key, in the transaction of the batch', async () => {
    const [one, two] = [idempotencyKeyOf('k1'), idempotencyKeyOf('k2')];
    const [a, b, c] = await Promise.all([writeWithKey('a', one), writeWithKey('b', two), write('c')]);
    expect(new Set([a.tx, b.tx, c.tx]).size).toBe(1);
    expect(await keys()).toEqual([storedRow('k1', 'a'), storedRow('k2', 'b')]);
    expect([one.stored, two.stored]).toEqual([
      { status: 201, body: '"a"' },
      { status: 201, body: '"b"' },
    ]);
  });

  test('the answer of a command that runs in a transaction of its own is stored with its key, too', async () => {
    const key = idempotencyKeyOf('k1');
    await Promise.all([writeWithKey('odd', key), write('a')]);
    expect([await keys(), key.stored]).toEqual([[storedRow('k1', 'odd')], { status: 201, body: '"odd"' }]);
  });

  test('of two commands in a batch, the one whose key was used before is rejected and the other one succeeds', async () => {
    await writeWithKey('first', idempotencyKeyOf('k1'));
    const again = idempotencyKeyOf('k1');
    const [used, other] = await Promise.allSettled([writeWithKey('second', again), writeWithKey('a', idempotencyKeyOf('k2'))]);
    expect([used.status === 'rejected' && used.reason, other.status]).toEqual([expect.any(KeyAlreadyUsed), 'fulfilled']);
    expect([await words(), again.stored]).toEqual([['a', 'first'], undefined]);
    expect((await keys()).map(({ key }) => key)).toEqual(['k1', 'k2']);
  });

  test('of two commands with the same key in one batch, one succeeds and one is rejected', async () => {
    const two = await Promise.allSettled([writeWithKey('a', idempotencyKeyOf('k1')), writeWithKey('b', idempotencyKeyOf('k1'))]);
    expect(two.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await words()).length).toBe(1);
  });

  test('a command that is one step of a larger command (`stepTogether`) commits without storing its idempotency key', async () => {
    const step = transactions.stepTogether(writing());
    const key = idempotencyKeyOf('k1');
    await writeWithKey('a', key, step);
    expect([await keys(), await words(), key.stored]).toEqual([[], ['a'], undefined]);
  });
});

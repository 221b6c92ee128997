import type { SharedWork, Transaction } from '#application/transaction-manager';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { requestContext, type IdempotencyKey } from '../logging/request-context.ts';
import { openDatabase } from './database.ts';
import { KeyAlreadyUsed } from '#application/idempotency-key';
import { PostgresTransactionManager } from './transaction-manager.ts';
import { inside } from './transaction.ts';

/** Writes a word; answers with the transaction it was written in. */
type Written = { readonly word: string; readonly tx: string };

let testDatabase: TestDatabase;
let database: DataSource;
let retried: string[];
let rounds: string[][];
let transactions: PostgresTransactionManager;
let write: (word: string) => Promise<Written>;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, name: 'shared-commands-test', poolSize: 6 });
  await database.query('create table words (word text primary key check (word <> $$bad$$))');
});

beforeEach(async () => {
  await database.query('truncate words, idempotency_keys');
  [retried, rounds] = [[], []];
  transactions = new PostgresTransactionManager(database, {
    deadlineMs: 20_000,
    retries: { inc: (labels: { sqlstate: string }) => void retried.push(labels.sqlstate) } as never,
    sleep: () => Promise.resolve(),
  });
  write = transactions.together(writing());
});

afterAll(async () => {
  await database.destroy();
  await testDatabase.drop();
});

/** Words that begin with `odd` are not plain. */
function writing(onTheWay: (tx: Transaction, words: readonly string[]) => Promise<unknown> = () => Promise.resolve()) {
  const insert = (tx: Transaction, words: readonly string[]) =>
    inside(tx).rows('insert into words select unnest($1::text[])', [words]);
  return {
    many: async (tx, words) => {
      rounds.push([...words]);
      await onTheWay(tx, words);
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
  (await Promise.allSettled(all)).map((one) => (one.status === 'fulfilled' ? one.value.word : (one.reason as Error).message));

test('commands that come at once share one transaction', async () => {
  const written = await Promise.all(['a', 'b', 'c'].map(write));
  expect(written.map(({ word }) => word)).toEqual(['a', 'b', 'c']);
  expect(new Set(written.map(({ tx }) => tx)).size).toBe(1);
  expect([rounds, await words()]).toEqual([[['a', 'b', 'c']], ['a', 'b', 'c']]);
});

test('those that come while one is under way share the next', async () => {
  let [reach, goOn] = [(): void => undefined, (): void => undefined];
  const [reached, gate] = [new Promise<void>((resolve) => (reach = resolve)), new Promise<void>((resolve) => (goOn = resolve))];
  write = transactions.together(writing(() => (reach(), gate)));
  const first = write('a');
  await reached;
  const later = ['b', 'c'].map(write);
  goOn();
  await Promise.all([first, ...later]);
  expect(rounds).toEqual([['a'], ['b', 'c']]);
});

test('two kinds of commands never have transactions at the same time', async () => {
  let open = 0;
  let most = 0;
  const counting = writing(async (tx) => {
    most = Math.max(most, (open += 1));
    await inside(tx).rows('select pg_sleep(0.02)');
    open -= 1;
  });
  const [one, two] = [transactions.together(counting), transactions.stepTogether(counting)];
  await Promise.all(['a', 'b', 'c', 'd'].map((word, index) => (index % 2 === 0 ? one(word) : two(word))));
  expect([most, await words()]).toEqual([1, ['a', 'b', 'c', 'd']]);
});

test('what is not plain is decided by itself, in another transaction', async () => {
  const [a, odd, b] = await Promise.all(['a', 'odd', 'b'].map(write));
  expect([a?.tx === b?.tx, odd?.tx === a?.tx]).toEqual([true, false]);
  expect(await words()).toEqual(['a', 'b', 'odd']);
});

test('a bad command fails for itself: the others are decided again, each alone', async () => {
  expect(await outcomes(['a', 'bad', 'b'].map(write))).toEqual(['a', expect.stringContaining('violates check constraint'), 'b']);
  expect([rounds, await words(), retried]).toEqual([[['a', 'bad', 'b']], ['a', 'b'], ['23514']]);
});

test('a round that met others runs again as a whole, and its words stand once', async () => {
  let attempts = 0;
  write = transactions.together(
    writing(async (tx) => {
      attempts += 1;
      if (attempts === 1) await inside(tx).rows(`do $$ begin raise exception 'no' using errcode = '40001'; end $$`);
    }),
  );
  const written = await Promise.all(['a', 'b'].map(write));
  expect(new Set(written.map(({ tx }) => tx)).size).toBe(1);
  expect([rounds.length, retried, await words()]).toEqual([2, ['40001'], ['a', 'b']]);
});

test('a database that is away is told to all of them at once, and the next ones are served', async () => {
  const dying = transactions.together(writing((tx) => inside(tx).rows('select pg_terminate_backend(pg_backend_pid())')));
  expect(await outcomes(['a', 'b'].map(dying))).toEqual([expect.stringMatching(/terminat/), expect.stringMatching(/terminat/)]);
  expect([rounds.length, await words()]).toEqual([1, []]);
  expect(await outcomes([write('c')])).toEqual(['c']);
});

test('inside of a transaction nobody waits for another: it is refused', async () => {
  await expect(transactions.run(() => write('a'))).rejects.toThrow('inside a transaction');
});

test('who has hardly any time left is told so, and takes none from the others', async () => {
  const late = requestContext.run({ requestId: 'r', deadlineAt: Date.now() + 1500 }, () => write('late'));
  const [refused, done] = await Promise.allSettled([late, write('a')]);
  expect([refused, done.status, await words()]).toEqual([
    { status: 'rejected', reason: expect.objectContaining({ code: 'LOCK_TIMEOUT' }) },
    'fulfilled',
    ['a'],
  ]);
});

describe('idempotency keys', () => {
  const USER = '8d7f1bb4-5a3e-4a43-9c77-9b46c8a5f001';
  const idempotencyKeyOf = (key: string): IdempotencyKey => ({
    key,
    userId: USER,
    fingerprint: `print of ${key}`,
    render: (written) => ({ status: 201, body: JSON.stringify((written as Written).word) }),
  });
  const keyed = (word: string, fence: IdempotencyKey, give = write): Promise<Written> =>
    requestContext.run({ requestId: word, deadlineAt: Date.now() + 20_000, fence }, () => give(word));
  const keys = (): Promise<{ key: string; body: string }[]> =>
    database.query('select key, status, body, fingerprint from idempotency_keys order by key');
  const stored = (key: string, word: string) => ({ key, status: 201, body: `"${word}"`, fingerprint: `print of ${key}` });

  test('each answer is committed with its key, in the transaction of all', async () => {
    const [one, two] = [idempotencyKeyOf('k1'), idempotencyKeyOf('k2')];
    const [a, b, c] = await Promise.all([keyed('a', one), keyed('b', two), write('c')]);
    expect(new Set([a.tx, b.tx, c.tx]).size).toBe(1);
    expect(await keys()).toEqual([stored('k1', 'a'), stored('k2', 'b')]);
    expect([one.stored, two.stored]).toEqual([
      { status: 201, body: '"a"' },
      { status: 201, body: '"b"' },
    ]);
  });

  test('so is the answer of one that was decided by itself', async () => {
    const fence = idempotencyKeyOf('k1');
    await Promise.all([keyed('odd', fence), write('a')]);
    expect([await keys(), fence.stored]).toEqual([[stored('k1', 'odd')], { status: 201, body: '"odd"' }]);
  });

  test('a key that was used meanwhile undoes its own command and nobody else’s', async () => {
    await keyed('first', idempotencyKeyOf('k1'));
    const again = idempotencyKeyOf('k1');
    const [used, other] = await Promise.allSettled([keyed('second', again), keyed('a', idempotencyKeyOf('k2'))]);
    expect([used.status === 'rejected' && used.reason, other.status]).toEqual([expect.any(KeyAlreadyUsed), 'fulfilled']);
    expect([await words(), again.stored]).toEqual([['a', 'first'], undefined]);
    expect((await keys()).map(({ key }) => key)).toEqual(['k1', 'k2']);
  });

  test('the same key twice in one round: one command is done', async () => {
    const two = await Promise.allSettled([keyed('a', idempotencyKeyOf('k1')), keyed('b', idempotencyKeyOf('k1'))]);
    expect(two.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await words()).length).toBe(1);
  });

  test('a step keeps the key open', async () => {
    const step = transactions.stepTogether(writing());
    const fence = idempotencyKeyOf('k1');
    await keyed('a', fence, step);
    expect([await keys(), await words(), fence.stored]).toEqual([[], ['a'], undefined]);
  });
});

import type { Transaction } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { requestContext } from '../logging/request-context.ts';
import { driverClientOf, openDatabase } from './database.ts';
import { mustBeOutsideTransaction } from './open-transaction.ts';
import { sqlstateOf } from './sqlstates.ts';
import { PostgresTransactionManager } from './transaction-manager.ts';
import { inside, PostgresTransaction } from './transaction.ts';

let testDatabase: TestDatabase;
let database: DataSource;
let sleeps: number[];
let retried: string[];
let transactions: PostgresTransactionManager;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, name: 'transactions-test', poolSize: 6 });
  await database.query('create table accounts (id int primary key, balance int not null check (balance >= 0))');
});

beforeEach(async () => {
  await database.query('truncate accounts');
  await database.query('insert into accounts values (1, 100), (2, 100)');
  sleeps = [];
  retried = [];
  transactions = new PostgresTransactionManager(database, {
    deadlineMs: 20_000,
    retries: { inc: (labels: { sqlstate: string }) => void retried.push(labels.sqlstate) } as never,
    sleep: (ms) => Promise.resolve(void sleeps.push(ms)),
  });
});

afterAll(async () => {
  await database.destroy();
  await testDatabase.drop();
});

const take = (tx: Transaction, id: number, amount = 1): Promise<unknown[]> =>
  inside(tx).rows('update accounts set balance = balance - $2 where id = $1', [id, amount]);

async function balances(): Promise<number[]> {
  const rows = await database.query<{ balance: number }[]>('select balance from accounts order by id');
  return rows.map(({ balance }) => balance);
}

/** Runs `failing` in the first `times` attempts; returns the ids of the transactions that were opened. */
async function attemptsWith(failing: (tx: Transaction) => Promise<unknown>, times: number): Promise<string[]> {
  const ids: string[] = [];
  await transactions.run(async (tx) => {
    ids.push(tx.id);
    await take(tx, 1);
    if (ids.length <= times) await failing(tx);
  });
  return ids;
}

test('a block runs SERIALIZABLE, waits 8 s for a lock, and leaves none of that on the connection', async () => {
  const show = `select current_setting('transaction_isolation') as isolation, current_setting('lock_timeout') as lock_timeout,
                       current_setting('idle_in_transaction_session_timeout') as idle`;
  const [within] = await transactions.run((tx) => inside(tx).rows(show));
  expect(within).toEqual({ isolation: 'serializable', lock_timeout: '8s', idle: '15s' });
  expect(await database.query(show)).toEqual([{ isolation: 'read committed', lock_timeout: '0', idle: '0' }]);
});

test('a lock that is not given in time is tried again in a new transaction', async () => {
  const holder = database.createQueryRunner();
  await holder.startTransaction();
  await holder.query('select 1 from accounts where id = 2 for update');
  const ids = await attemptsWith(async (tx) => {
    await inside(tx).rows(`select set_config('lock_timeout', '20ms', true)`);
    await take(tx, 2).finally(() => holder.isTransactionActive && holder.rollbackTransaction());
  }, 1);
  await holder.release();
  expect(retried).toEqual(['55P03']);
  expect(new Set(ids).size).toBe(2);
  expect(await balances()).toEqual([99, 100]);
});

test('two blocks that lock in opposite order both commit: the victim of the deadlock runs again', async () => {
  let waiting = 2;
  let bothHoldOne = (): void => undefined;
  const opposite = new Promise<void>((resolve) => (bothHoldOne = resolve));
  const transfer = (from: number, to: number): Promise<void> =>
    transactions.run(async (tx) => {
      await inside(tx).rows(`select set_config('deadlock_timeout', '10ms', true)`);
      await take(tx, from);
      if ((waiting -= 1) === 0) bothHoldOne();
      await opposite;
      await take(tx, to);
    });
  await Promise.all([transfer(1, 2), transfer(2, 1)]);
  expect(retried[0]).toBe('40P01');
  expect(await balances()).toEqual([98, 98]);
});

test('two blocks that decided on what the other changed: the second decides anew', async () => {
  const seen: number[] = [];
  await transactions.run(async (tx) => {
    const [row] = await inside(tx).rows<{ balance: number }>('select balance from accounts where id = 1');
    seen.push(row?.balance ?? -1);
    if (seen.length === 1) await database.query('update accounts set balance = 40 where id = 1');
    await take(tx, 1);
  });
  expect([seen, retried, await balances()]).toEqual([[100, 40], ['40001'], [39, 100]]);
});

test('after six attempts the answer is LOCK_TIMEOUT, with growing pauses between them and nothing changed', async () => {
  const refusing = attemptsWith((tx) => inside(tx).rows(`do $$ begin raise exception 'no' using errcode = '40001'; end $$`), 99);
  await expect(refusing).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  expect(retried).toHaveLength(5);
  expect(sleeps.map((ms, index) => ms >= Math.min(1000, 25 * 2 ** (index + 1)))).toEqual([true, true, true, true, true]);
  expect(await balances()).toEqual([100, 100]);
});

test.each([
  ['a duplicate', '23505', (tx: Transaction) => inside(tx).rows('insert into accounts values (1, 1)')],
  ['a violated check', '23514', (tx: Transaction) => take(tx, 1, 500)],
  ['a number that is none', '22P02', (tx: Transaction) => inside(tx).rows(`select 'x'::int`)],
])('%s is not tried again', async (_what, sqlstate, failing) => {
  const error: unknown = await attemptsWith(failing, 99).catch((caught: unknown) => caught);
  expect([sqlstateOf(error), retried, await balances()]).toEqual([sqlstate, [], [100, 100]]);
});

test('a refusal of a rule is not tried again, and takes back what the block did', async () => {
  const refusal = new DomainError('SOLD_OUT', 'Gone.');
  await expect(attemptsWith(() => Promise.reject(refusal), 99)).rejects.toBe(refusal);
  expect([retried, await balances()]).toEqual([[], [100, 100]]);
});

test('a failed statement that the block keeps quiet about is not taken for a commit', async () => {
  const quiet = transactions.run(async (tx) => {
    await take(tx, 1);
    await take(tx, 2, 500).catch(() => undefined);
  });
  await expect(quiet).rejects.toThrow('Nothing was committed');
  expect(await balances()).toEqual([100, 100]);
});

describe('statements that nobody waits for', () => {
  const takeBehind = (tx: Transaction, id: number, amount = 1): void =>
    void inside(tx).write('update accounts set balance = balance - $2 where id = $1', [id, amount]);
  const failing = (tx: Transaction, code: string): void =>
    void inside(tx).write(`do $$ begin raise exception 'no' using errcode = '${code}'; end $$`, []);

  test('are committed with the others, in the order they were asked for', async () => {
    const seen = await transactions.run(async (tx) => {
      takeBehind(tx, 1);
      takeBehind(tx, 1, 2);
      return inside(tx).rows<{ balance: number }>('select balance from accounts where id = 1');
    });
    expect([seen, await balances()]).toEqual([[{ balance: 97 }], [97, 100]]);
  });

  test('fail the commit, and say why: what was sent behind them only hears that it is over', async () => {
    const error: unknown = await transactions
      .run(async (tx) => {
        takeBehind(tx, 1);
        takeBehind(tx, 2, 500);
        await take(tx, 1);
      })
      .catch((caught: unknown) => caught);
    expect([sqlstateOf(error), retried, await balances()]).toEqual(['23514', [], [100, 100]]);
  });

  test('are reason enough to run the block again', async () => {
    let runs = 0;
    await transactions.run((tx) => {
      runs += 1;
      takeBehind(tx, 1);
      if (runs === 1) failing(tx, '40001');
      return Promise.resolve();
    });
    expect([runs, retried, await balances()]).toEqual([2, ['40001'], [99, 100]]);
  });

  test('do not hide what failed before them', async () => {
    let runs = 0;
    await transactions.run(async (tx) => {
      runs += 1;
      const first = runs === 1 ? inside(tx).rows(`do $$ begin raise exception 'no' using errcode = '40P01'; end $$`) : undefined;
      takeBehind(tx, 1);
      await first;
    });
    expect([runs, retried, await balances()]).toEqual([2, ['40P01'], [99, 100]]);
  });

  test.each([
    ['before it has begun', 0],
    ['after that', 1],
  ])('are taken back when the block gives up %s', async (_when, statements) => {
    const refusal = new DomainError('SOLD_OUT', 'Gone.');
    const refused = transactions.run(async (tx) => {
      for (let count = 0; count < statements; count += 1) await inside(tx).rows('select 1');
      takeBehind(tx, 1);
      throw refusal;
    });
    await expect(refused).rejects.toBe(refusal);
    expect(await balances()).toEqual([100, 100]);
  });

  test.each(['commit', 'rollback'])('are refused behind the %s: they would be transactions of their own', async (end) => {
    let late: () => Promise<unknown> = () => Promise.resolve();
    const ended = transactions.run(async (tx) => {
      late = () => take(tx, 1);
      await take(tx, 2);
      if (end === 'rollback') throw new Error('no');
    });
    await Promise.allSettled([ended]);
    await expect(late()).rejects.toThrow('after the end');
    expect((await balances())[0]).toBe(100);
  });
});

test('a write does not run where nothing has begun', async () => {
  const runner = database.createQueryRunner();
  const client = await driverClientOf(runner);
  const tx = new PostgresTransaction(client, runner.manager, client.query('begin isolation level nonsense'));
  await expect(take(tx, 1)).rejects.toThrow('nonsense');
  await expect(inside(tx).rows('select 1')).rejects.toThrow('nonsense');
  await runner.release();
  expect(await balances()).toEqual([100, 100]);
});

test('no attempt starts with less than a second left', async () => {
  const context = { requestId: 'r', deadlineAt: Date.now() + 900 };
  const late = requestContext.run(context, () => attemptsWith(() => Promise.resolve(), 0));
  await expect(late).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  expect(await balances()).toEqual([100, 100]);
});

test('a statement that is still running at the deadline ends there, as LOCK_TIMEOUT', async () => {
  const context = { requestId: 'r', deadlineAt: Date.now() + 1100 };
  const started = Date.now();
  const slow = requestContext.run(context, () => attemptsWith((tx) => inside(tx).rows('select pg_sleep(20)'), 99));
  await expect(slow).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  expect(Date.now() - started).toBeLessThan(3000);
});

test('a transaction inside a transaction is refused', async () => {
  await expect(transactions.run(() => transactions.run(() => Promise.resolve()))).rejects.toThrow('inside a transaction');
});

test('reaching outside is refused while a transaction is open, and allowed before, between attempts and after', async () => {
  const reach = (): void => mustBeOutsideTransaction('A call to the provider');
  reach();
  await expect(transactions.run(() => Promise.resolve(reach()))).rejects.toThrow(
    'A call to the provider inside an open transaction',
  );
  reach();
});

test('the relays are woken after the commit, once, and not by what was rolled back', async () => {
  const seenByThen: number[][] = [];
  const woken: string[][] = [];
  const waking = new PostgresTransactionManager(database, {
    deadlineMs: 5000,
    afterCommit: (destinations) => woken.push([...destinations]),
  });
  await waking.run(async (tx) => {
    await take(tx, 1);
    inside(tx).destinations.add('email');
    seenByThen.push(await balances());
    expect(woken).toEqual([]);
  });
  const rolledBack = waking.run((tx) => {
    inside(tx).destinations.add('push');
    return Promise.reject(new Error('no'));
  });
  await expect(rolledBack).rejects.toThrow('no');
  expect([seenByThen, woken, await balances()]).toEqual([[[100, 100]], [['email']], [99, 100]]);
});

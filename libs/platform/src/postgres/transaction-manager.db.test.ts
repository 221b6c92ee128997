import type { Transaction } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { requestContext } from '../logging/request-context.ts';
import { driverClientOf, openDatabase } from './database.ts';
import { assertOutsideTransaction } from './open-transaction.ts';
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
  await testDatabase.close();
});

const withdraw = (tx: Transaction, id: number, amount = 1): Promise<unknown[]> =>
  inside(tx).rows('update accounts set balance = balance - $2 where id = $1', [id, amount]);

async function balances(): Promise<number[]> {
  const rows = await database.query<{ balance: number }[]>('select balance from accounts order by id');
  return rows.map(({ balance }) => balance);
}

/** Runs a transaction whose first `times` attempts call `failing`; returns the ids of the transactions that were opened. */
async function attemptsWith(failing: (tx: Transaction) => Promise<unknown>, times: number): Promise<string[]> {
  const ids: string[] = [];
  await transactions.run(async (tx) => {
    ids.push(tx.id);
    await withdraw(tx, 1);
    if (ids.length <= times) await failing(tx);
  });
  return ids;
}

test('a transaction is SERIALIZABLE with a lock timeout of 8 s, and after it the connection has its default settings', async () => {
  const show = `select current_setting('transaction_isolation') as isolation, current_setting('lock_timeout') as lock_timeout,
                       current_setting('idle_in_transaction_session_timeout') as idle`;
  const [settings] = await transactions.run((tx) => inside(tx).rows(show));
  expect(settings).toEqual({ isolation: 'serializable', lock_timeout: '8s', idle: '15s' });
  expect(await database.query(show)).toEqual([{ isolation: 'read committed', lock_timeout: '0', idle: '0' }]);
});

test('with isolation `read committed` a row that changed after the first statement does not fail the transaction', async () => {
  const run = (isolation: 'serializable' | 'read committed'): Promise<unknown> =>
    transactions.run(
      async (tx) => {
        await inside(tx).rows('select balance from accounts where id = 2');
        if (retried.length === 0) await database.query('update accounts set balance = balance - 10 where id = 1');
        await withdraw(tx, 1);
        return inside(tx).rows(
          `select current_setting('transaction_isolation') as isolation, current_setting('lock_timeout') as lock`,
        );
      },
      { isolation },
    );
  expect(await run('read committed')).toEqual([{ isolation: 'read committed', lock: '8s' }]);
  expect([retried, await balances()]).toEqual([[], [89, 100]]);
  await run('serializable');
  expect([retried, await balances()]).toEqual([['40001'], [78, 100]]);
});

test('a lock timeout is retried in a new transaction', async () => {
  const holder = database.createQueryRunner();
  await holder.startTransaction();
  await holder.query('select 1 from accounts where id = 2 for update');
  const ids = await attemptsWith(async (tx) => {
    await inside(tx).rows(`select set_config('lock_timeout', '20ms', true)`);
    await withdraw(tx, 2).finally(() => holder.isTransactionActive && holder.rollbackTransaction());
  }, 1);
  await holder.release();
  expect(retried).toEqual(['55P03']);
  expect(new Set(ids).size).toBe(2);
  expect(await balances()).toEqual([99, 100]);
});

test('two transactions that lock rows in opposite order both commit: the victim of the deadlock is retried', async () => {
  let transactionsWithoutLock = 2;
  let reportBothLocked = (): void => undefined;
  const bothLocked = new Promise<void>((resolve) => (reportBothLocked = resolve));
  const transfer = (from: number, to: number): Promise<void> =>
    transactions.run(async (tx) => {
      await inside(tx).rows(`select set_config('deadlock_timeout', '10ms', true)`);
      await withdraw(tx, from);
      if ((transactionsWithoutLock -= 1) === 0) reportBothLocked();
      await bothLocked;
      await withdraw(tx, to);
    });
  await Promise.all([transfer(1, 2), transfer(2, 1)]);
  expect(retried[0]).toBe('40P01');
  expect(await balances()).toEqual([98, 98]);
});

test('a transaction that read a balance which was changed meanwhile is retried and reads the new balance', async () => {
  const readBalances: number[] = [];
  await transactions.run(async (tx) => {
    const [row] = await inside(tx).rows<{ balance: number }>('select balance from accounts where id = 1');
    readBalances.push(row?.balance ?? -1);
    if (readBalances.length === 1) await database.query('update accounts set balance = 40 where id = 1');
    await withdraw(tx, 1);
  });
  expect([readBalances, retried, await balances()]).toEqual([[100, 40], ['40001'], [39, 100]]);
});

test('after six failed attempts with growing delays the caller gets LOCK_TIMEOUT and no data are changed', async () => {
  const refusing = attemptsWith((tx) => inside(tx).rows(`do $$ begin raise exception 'no' using errcode = '40001'; end $$`), 99);
  await expect(refusing).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  expect(retried).toHaveLength(5);
  expect(sleeps.map((ms, index) => ms >= Math.min(1000, 25 * 2 ** (index + 1)))).toEqual([true, true, true, true, true]);
  expect(await balances()).toEqual([100, 100]);
});

test.each([
  ['a unique violation', '23505', (tx: Transaction) => inside(tx).rows('insert into accounts values (1, 1)')],
  ['a check violation', '23514', (tx: Transaction) => withdraw(tx, 1, 500)],
  ['an invalid number', '22P02', (tx: Transaction) => inside(tx).rows(`select 'x'::int`)],
])('a transaction that fails with %s is not retried', async (_name, sqlstate, failing) => {
  const error: unknown = await attemptsWith(failing, 99).catch((caught: unknown) => caught);
  expect([sqlstateOf(error), retried, await balances()]).toEqual([sqlstate, [], [100, 100]]);
});

test('a DomainError from the block is not retried and rolls the transaction back', async () => {
  const refusal = new DomainError('SOLD_OUT', 'Gone.');
  await expect(attemptsWith(() => Promise.reject(refusal), 99)).rejects.toBe(refusal);
  expect([retried, await balances()]).toEqual([[], [100, 100]]);
});

test('a transaction fails when one of its statements failed, even if the block ignores the error', async () => {
  const ignoring = transactions.run(async (tx) => {
    await withdraw(tx, 1);
    await withdraw(tx, 2, 500).catch(() => undefined);
  });
  await expect(ignoring).rejects.toThrow('Nothing was committed');
  expect(await balances()).toEqual([100, 100]);
});

test('of statements sent together the first one that failed is the reason, also if the block sees the error of a later one first', async () => {
  let runs = 0;
  await transactions.run(async (tx) => {
    runs += 1;
    await withdraw(tx, 1);
    const first = runs === 1 ? inside(tx).rows(`do $$ begin raise exception 'no' using errcode = '40001'; end $$`) : undefined;
    const seenLate = async (): Promise<void> => {
      await first?.catch((error: unknown) => new Promise((_, reject) => setTimeout(reject, 20, error)));
    };
    await Promise.all([seenLate(), withdraw(tx, 2)]);
  });
  expect([runs, retried, await balances()]).toEqual([2, ['40001'], [99, 99]]);
});

describe('statements sent with `write`, which the block does not await,', () => {
  const withdrawWithoutWaiting = (tx: Transaction, id: number, amount = 1): void =>
    void inside(tx).write('update accounts set balance = balance - $2 where id = $1', [id, amount]);
  const failing = (tx: Transaction, code: string): void =>
    void inside(tx).write(`do $$ begin raise exception 'no' using errcode = '${code}'; end $$`, []);

  test('commit with the other statements, in the order of the calls', async () => {
    const seen = await transactions.run(async (tx) => {
      withdrawWithoutWaiting(tx, 1);
      withdrawWithoutWaiting(tx, 1, 2);
      return inside(tx).rows<{ balance: number }>('select balance from accounts where id = 1');
    });
    expect([seen, await balances()]).toEqual([[{ balance: 97 }], [97, 100]]);
  });

  test('make the transaction fail with the error of the first failed statement, not with the errors of the statements after it', async () => {
    const error: unknown = await transactions
      .run(async (tx) => {
        withdrawWithoutWaiting(tx, 1);
        withdrawWithoutWaiting(tx, 2, 500);
        await withdraw(tx, 1);
      })
      .catch((caught: unknown) => caught);
    expect([sqlstateOf(error), retried, await balances()]).toEqual(['23514', [], [100, 100]]);
  });

  test('cause a retry of the block when they fail with a serialization failure', async () => {
    let runs = 0;
    await transactions.run((tx) => {
      runs += 1;
      withdrawWithoutWaiting(tx, 1);
      if (runs === 1) failing(tx, '40001');
      return Promise.resolve();
    });
    expect([runs, retried, await balances()]).toEqual([2, ['40001'], [99, 100]]);
  });

  test('do not hide the error of a statement before them', async () => {
    let runs = 0;
    await transactions.run(async (tx) => {
      runs += 1;
      const first = runs === 1 ? inside(tx).rows(`do $$ begin raise exception 'no' using errcode = '40P01'; end $$`) : undefined;
      withdrawWithoutWaiting(tx, 1);
      await first;
    });
    expect([runs, retried, await balances()]).toEqual([2, ['40P01'], [99, 100]]);
  });

  test.each([
    ['before BEGIN was answered', 0],
    ['after BEGIN was answered', 1],
  ])('are rolled back when the block throws %s', async (_when, statements) => {
    const refusal = new DomainError('SOLD_OUT', 'Gone.');
    const refused = transactions.run(async (tx) => {
      for (let count = 0; count < statements; count += 1) await inside(tx).rows('select 1');
      withdrawWithoutWaiting(tx, 1);
      throw refusal;
    });
    await expect(refused).rejects.toBe(refusal);
    expect(await balances()).toEqual([100, 100]);
  });

  test.each(['commit', 'rollback'])('are refused after the %s, where they would run outside the transaction', async (end) => {
    let late: () => Promise<unknown> = () => Promise.resolve();
    const ended = transactions.run(async (tx) => {
      late = () => withdraw(tx, 1);
      await withdraw(tx, 2);
      if (end === 'rollback') throw new Error('no');
    });
    await Promise.allSettled([ended]);
    await expect(late()).rejects.toThrow('after the end');
    expect((await balances())[0]).toBe(100);
  });
});

test('when BEGIN fails, no statement of the transaction is sent', async () => {
  const runner = database.createQueryRunner();
  const client = await driverClientOf(runner);
  const tx = new PostgresTransaction(client, runner.manager, client.query('begin isolation level nonsense'));
  await expect(withdraw(tx, 1)).rejects.toThrow('nonsense');
  await expect(inside(tx).rows('select 1')).rejects.toThrow('nonsense');
  await runner.release();
  expect(await balances()).toEqual([100, 100]);
});

test('no attempt of a transaction starts less than a second before the deadline of the request', async () => {
  const context = { requestId: 'r', deadlineAt: Date.now() + 900 };
  const late = requestContext.run(context, () => attemptsWith(() => Promise.resolve(), 0));
  await expect(late).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  expect(await balances()).toEqual([100, 100]);
});

test('a statement that still runs at the deadline of the request is cancelled, and the caller gets LOCK_TIMEOUT', async () => {
  const context = { requestId: 'r', deadlineAt: Date.now() + 1100 };
  const started = Date.now();
  const slow = requestContext.run(context, () => attemptsWith((tx) => inside(tx).rows('select pg_sleep(20)'), 99));
  await expect(slow).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  expect(Date.now() - started).toBeLessThan(3000);
});

test('a transaction inside a transaction is refused', async () => {
  await expect(transactions.run(() => transactions.run(() => Promise.resolve()))).rejects.toThrow('inside a transaction');
});

test('assertOutsideTransaction: a call to another system is refused inside a transaction, and allowed before and after the transaction', async () => {
  const callProvider = (): void => assertOutsideTransaction('A call to the provider');
  callProvider();
  await expect(transactions.run(() => Promise.resolve(callProvider()))).rejects.toThrow(
    'A call to the provider inside an open transaction',
  );
  callProvider();
});

test('a commit that wrote outbox messages wakes the relays of their destinations once, and a rollback wakes none', async () => {
  const balancesBeforeCommit: number[][] = [];
  const woken: string[][] = [];
  const waking = new PostgresTransactionManager(database, {
    deadlineMs: 5000,
    afterCommit: (destinations) => woken.push([...destinations]),
  });
  await waking.run(async (tx) => {
    await withdraw(tx, 1);
    inside(tx).destinations.add('email');
    balancesBeforeCommit.push(await balances());
    expect(woken).toEqual([]);
  });
  const rolledBack = waking.run((tx) => {
    inside(tx).destinations.add('push');
    return Promise.reject(new Error('no'));
  });
  await expect(rolledBack).rejects.toThrow('no');
  expect([balancesBeforeCommit, woken, await balances()]).toEqual([[[100, 100]], [['email']], [99, 100]]);
});

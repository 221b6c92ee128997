import { TcpProxy } from '#testing/tcp-proxy';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { toProblem } from '../http/problem.ts';
import { openDatabase } from './database.ts';
import { PostgresTransactionManager } from './transaction-manager.ts';
import { inside } from './transaction.ts';

let testDatabase: TestDatabase;
let direct: DataSource;
let proxy: TcpProxy;
let database: DataSource;
let transactions: PostgresTransactionManager;
let runs: number;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  direct = await openDatabase({ url: testDatabase.url, name: 'direct', poolSize: 2 });
  await direct.query('create table effects (run int)');
});

beforeEach(async () => {
  runs = 0;
  await direct.query('truncate effects');
  proxy = await TcpProxy.inFrontOf(testDatabase.url);
  database = await openDatabase({ url: proxy.url, name: 'through-proxy', poolSize: 2 });
  transactions = new PostgresTransactionManager(database, {
    deadlineMs: 10_000,
    commitTimeoutMs: 800,
    sleep: () => new Promise((resolve) => setTimeout(resolve, 20)),
  });
});

afterEach(async () => {
  await proxy.close();
  await database.destroy();
});

afterAll(async () => {
  await direct.destroy();
  await testDatabase.close();
});

const COMMIT = 'COMMIT\0';

function insertOnce(): Promise<string> {
  return transactions.run(async (tx) => {
    runs += 1;
    await inside(tx).rows('insert into effects values ($1)', [runs]);
    return `run ${runs}`;
  });
}

async function effects(): Promise<number[]> {
  const rows = await direct.query<{ run: number }[]>('select run from effects');
  return rows.map(({ run }) => run);
}

test('the connection breaks after the server received COMMIT: the effect exists once and its result is returned', async () => {
  const sprung = proxy.setTrap({ whenSent: COMMIT, passOn: true, then: 'cut' });
  expect(await insertOnce()).toBe('run 1');
  await sprung;
  expect([runs, await effects()]).toEqual([1, [1]]);
});

test('the connection breaks before the server receives COMMIT: the block runs a second time and commits once', async () => {
  const sprung = proxy.setTrap({ whenSent: COMMIT, passOn: false, then: 'cut' });
  expect(await insertOnce()).toBe('run 2');
  await sprung;
  expect([runs, await effects()]).toEqual([2, [2]]);
});

test('the connection goes silent after the server received COMMIT: the outcome is read on another connection', async () => {
  const sprung = proxy.setTrap({ whenSent: COMMIT, passOn: true, then: 'silence' });
  expect(await insertOnce()).toBe('run 1');
  await sprung;
  expect([runs, await effects()]).toEqual([1, [1]]);
});

test('the connection goes silent before the server receives COMMIT: the block runs a second time and commits once', async () => {
  const sprung = proxy.setTrap({ whenSent: COMMIT, passOn: false, then: 'silence' });
  expect(await insertOnce()).toBe('run 2');
  await sprung;
  expect([runs, await effects()]).toEqual([2, [2]]);
});

test.each([
  ['breaks', 'cut'],
  ['goes silent', 'silence'],
] as const)(
  'the connection %s during COMMIT and no new connection is accepted: the error is OUTCOME_UNKNOWN',
  async (_name, then) => {
    const sprung = proxy.setTrap({ whenSent: COMMIT, passOn: true, then });
    const outcome = insertOnce();
    await Promise.all([expect(outcome).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' }), sprung.then(() => proxy.refuse())]);
    expect([runs, await effects()]).toEqual([1, [1]]);
  },
);

test('all connections go silent during COMMIT: the error is OUTCOME_UNKNOWN within 4 s', async () => {
  const sprung = proxy.setTrap({ whenSent: COMMIT, passOn: true, then: 'silence' });
  const started = Date.now();
  const outcome = insertOnce();
  await Promise.all([expect(outcome).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' }), sprung.then(() => proxy.silence())]);
  expect(Date.now() - started).toBeLessThan(4000);
  expect([runs, await effects()]).toEqual([1, [1]]);
});

test('the connection breaks during BEGIN: the transaction runs on another connection without an error', async () => {
  const sprung = proxy.setTrap({ whenSent: 'begin isolation level serializable', passOn: false, then: 'cut' });
  // The block does not wait for the answer to BEGIN, so it had already run once on the broken connection.
  expect(await insertOnce()).toBe('run 2');
  await sprung;
  expect(await effects()).toEqual([2]);
});

test('the connection breaks before COMMIT, inside the block: no retry, and the error is DEPENDENCY_UNAVAILABLE', async () => {
  const interrupted = transactions.run(async (tx) => {
    runs += 1;
    await inside(tx).rows('insert into effects values (1)');
    await direct.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = $1',
      ['tribina-through-proxy'],
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    await inside(tx).rows('insert into effects values (2)');
  });
  const error: unknown = await interrupted.catch((caught: unknown) => caught);
  expect([toProblem(error, 'r').code, runs, await effects()]).toEqual(['DEPENDENCY_UNAVAILABLE', 1, []]);
  expect(await insertOnce()).toBe('run 2');
});

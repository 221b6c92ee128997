import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import pg from 'pg';
import { isLedgerOutage } from './delivery-ledger.ts';
import { SingleStatements } from './single-statements.ts';

let testDatabase: TestDatabase;
let statements: SingleStatements;
let other: pg.Client;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  statements = new SingleStatements(testDatabase.url, 'statements-test');
  other = new pg.Client({ connectionString: testDatabase.url });
  await other.connect();
  await other.query('create table counters (id int primary key, n int not null); insert into counters values (1, 0)');
});

afterAll(async () => {
  await other.end();
  await statements.close();
  await testDatabase.drop();
});

test('each is a SERIALIZABLE transaction with our limits', async () => {
  const [row] = await statements.rows<Record<string, string>>(
    `select current_setting('transaction_isolation') as isolation, current_setting('lock_timeout') as lock`,
    [],
  );
  expect(row).toEqual({ isolation: 'serializable', lock: '8s' });
});

test('one that met another writer of its row is made again', async () => {
  await other.query('begin');
  await other.query('update counters set n = n + 1 where id = 1');
  const waiting = statements.rows<{ n: number }>('update counters set n = n + 10 where id = $1 returning n', [1]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await other.query('commit');
  expect(await waiting).toEqual([{ n: 11 }]);
});

test('what is wrong with the statement is told at once', async () => {
  await expect(statements.rows('select 1 / $1::int', [0])).rejects.toThrow('division by zero');
});

test('a connection that broke is an outage of ours, and the next statement has another one', async () => {
  const broken = await statements.rows('select pg_terminate_backend(pg_backend_pid())', []).catch((error: unknown) => error);
  expect(isLedgerOutage(broken)).toBe(true);
  expect(await statements.rows('select 1 as one', [])).toEqual([{ one: 1 }]);
});

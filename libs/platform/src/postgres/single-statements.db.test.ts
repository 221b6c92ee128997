import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import pg from 'pg';
import { isLedgerOutage } from '#messaging/inbox/delivery-ledger';
import { namedSql } from './named-sql.ts';
import { SingleStatements } from './single-statements.ts';

let testDatabase: TestDatabase;
let statements: SingleStatements;
let otherClient: pg.Client;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  statements = new SingleStatements(testDatabase.url, 'statements-test', { onRetry: () => undefined });
  otherClient = new pg.Client({ connectionString: testDatabase.url });
  await otherClient.connect();
  await otherClient.query('create table counters (id int primary key, n int not null); insert into counters values (1, 0)');
});

afterAll(async () => {
  await otherClient.end();
  await statements.close();
  await testDatabase.close();
});

test('each statement runs as a SERIALIZABLE transaction with a lock timeout of 8 s', async () => {
  const readSettings = namedSql(
    'read-settings',
    `select current_setting('transaction_isolation') as isolation, current_setting('lock_timeout') as lock`,
  );
  const [row] = await statements.rows<Record<string, string>>(readSettings.with({}));
  expect(row).toEqual({ isolation: 'serializable', lock: '8s' });
});

test('a statement that fails because of a concurrent update of its row is retried', async () => {
  await otherClient.query('begin');
  await otherClient.query('update counters set n = n + 1 where id = 1');
  const waiting = statements.rows<{ n: number }>(
    namedSql('add-ten', 'update counters set n = n + 10 where id = :id returning n').with({ id: 1 }),
  );
  await new Promise((resolve) => setTimeout(resolve, 100));
  await otherClient.query('commit');
  expect(await waiting).toEqual([{ n: 11 }]);
});

test('a statement whose error does not come from concurrency fails at once, without a retry', async () => {
  await expect(statements.rows(namedSql('divide', 'select 1 / :divisor::int').with({ divisor: 0 }))).rejects.toThrow(
    'division by zero',
  );
});

test('isLedgerOutage is true for the error of a broken connection, and the next statement gets a new connection', async () => {
  const terminate = namedSql('terminate', 'select pg_terminate_backend(pg_backend_pid())').with({});
  const broken = await statements.rows(terminate).catch((error: unknown) => error);
  expect(isLedgerOutage(broken)).toBe(true);
  expect(await statements.rows(namedSql('one', 'select 1 as one').with({}))).toEqual([{ one: 1 }]);
});

import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { BatchedReads } from './batched-reads.ts';
import { openDatabase } from './database.ts';
import { namedSql } from './named-sql.ts';

const LINES = namedSql<{ readonly keys: readonly string[] }>(
  'lines-of-texts',
  `select key, line, current_setting('enable_seqscan') as seqscan from lines where key = any(:keys) order by line`,
);

interface Line {
  readonly key: string;
  readonly line: number;
  readonly seqscan: string;
}

let testDatabase: TestDatabase;
let dataSource: DataSource;
/** The keys of each statement that was sent. */
let statements: (readonly string[])[];
let lines: BatchedReads<Line>;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  dataSource = await openDatabase({ url: testDatabase.url, name: 'batched-reads-test' });
  await dataSource.query('create table lines (key text not null, line int not null)');
  await dataSource.query(`insert into lines values ('a', 2), ('a', 1), ('b', 3)`);
});
beforeEach(() => {
  statements = [];
  const statement = (keys: readonly string[]) => {
    statements.push(keys);
    return LINES.with({ keys });
  };
  lines = new BatchedReads<Line>(dataSource, { statement, keyOf: ({ key }) => key });
});
afterAll(async () => {
  await dataSource.destroy();
  await testDatabase.close();
});

const numbers = async (...keys: string[]): Promise<number[]> => (await lines.rows(...keys)).map(({ line }) => line);

test('calls of one moment share one statement, and each gets the rows of its own keys', async () => {
  expect(await Promise.all([numbers('a'), numbers('b', 'a'), numbers('unknown')])).toEqual([[1, 2], [3, 1, 2], []]);
  expect(statements).toEqual([['a', 'b', 'unknown']]);
});

test('sequential scans are off in the statement and on again after it', async () => {
  expect((await lines.rows('b'))[0]?.seqscan).toBe('off');
  expect(await dataSource.query('show enable_seqscan')).toEqual([{ enable_seqscan: 'on' }]);
});

test('a call sees what was committed before it, also while other calls are being read', async () => {
  const reading = Array.from({ length: 3 }, () => numbers('a'));
  await dataSource.query(`insert into lines values ('new', 1)`);
  expect(await numbers('new')).toEqual([1]);
  await Promise.all(reading);
});

test('after a failed statement the next call gets its rows, on a connection without an open transaction', async () => {
  const failing = new BatchedReads<Line>(dataSource, {
    statement: (keys) => ({
      name: 'divide-by-zero',
      text: 'select 1 / array_length($1::text[], 1) - 1 / 0 as key',
      values: [keys],
    }),
    keyOf: ({ key }) => key,
  });
  await expect(Promise.all([failing.rows('a'), failing.rows('b')])).rejects.toThrow('division by zero');
  expect(await numbers('b')).toEqual([3]);
  const open = `select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;
  expect(await dataSource.query(open)).toEqual([]);
});

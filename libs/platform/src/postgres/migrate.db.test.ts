import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import { openDatabase } from './database.ts';
import { migrate, sqlMigrations } from './migrate.ts';

let testDatabase: TestDatabase;

beforeAll(async () => (testDatabase = await createTestDatabase()));
afterAll(() => testDatabase.drop());

async function query<T>(sql: string): Promise<T[]> {
  const database = await openDatabase({ url: testDatabase.url, name: 'migrate-test', poolSize: 1 });
  return database.query<T[]>(sql).finally(() => database.destroy());
}

const tables = (): Promise<{ name: string }[]> =>
  query(`select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'migrations' order by 1`);

test('two concurrent calls of migrate apply each migration once, in the order of the files, and create the same schema as the template database of the tests', async () => {
  const expected = await tables();
  await query('drop schema public cascade; create schema public');
  const [first, second] = await Promise.all([migrate(testDatabase.url), migrate(testDatabase.url)]);
  expect([...first, ...second]).toEqual(sqlMigrations().map((Migration) => new Migration().name));
  expect(Math.min(first.length, second.length)).toBe(0);
  expect(await migrate(testDatabase.url)).toEqual([]);
  expect(await tables()).toEqual(expected);
});

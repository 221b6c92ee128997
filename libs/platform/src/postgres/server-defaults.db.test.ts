import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { openDatabase } from './database.ts';
import { adviceOn, readSettings, warnOfServerDefaults, type ServerSetting } from './server-defaults.ts';

let testDatabase: TestDatabase;
let database: DataSource;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, name: 'settings-test', poolSize: 1 });
});
afterAll(async () => {
  if (database.isInitialized) await database.destroy();
  await testDatabase.drop();
});

const said: string[] = [];
const logger = { warn: (_facts: unknown, text: string) => void said.push(text) } as unknown as Parameters<
  typeof warnOfServerDefaults
>[1];

test('the server tells both settings and their defaults; ours has other ones, so nothing is said', async () => {
  expect(await readSettings(database)).toEqual([
    { name: 'max_pred_locks_per_page', setting: '200', byDefault: '2' },
    { name: 'max_pred_locks_per_relation', setting: '20000', byDefault: '-2' },
  ]);
  await warnOfServerDefaults(database, logger);
  expect(said).toEqual([]);
});

/** As a server says that nobody has set up: these two cannot be changed for a session. */
const stock = async (names: readonly string[]): Promise<ServerSetting[]> =>
  (await readSettings(database)).map((one) => (names.includes(one.name) ? { ...one, setting: one.byDefault } : one));

test('a server with its defaults is told of, with the statements that change it', async () => {
  const advice = adviceOn(await stock(['max_pred_locks_per_page', 'max_pred_locks_per_relation'])) ?? '';
  expect(advice).toContain('max_pred_locks_per_page = 2, max_pred_locks_per_relation = -2');
  for (const statement of advice.match(/alter system[^;]+;/g) ?? []) expect(statement).toMatch(/ = (200|20000);$/);
  expect(advice.match(/alter system/g)).toHaveLength(2);
  expect(advice).toContain('select pg_reload_conf();');
});

test('only what is at its default is spoken of', async () => {
  const advice = adviceOn(await stock(['max_pred_locks_per_page'])) ?? '';
  expect([advice.includes('max_pred_locks_per_page = 200'), advice.includes('max_pred_locks_per_relation')]).toEqual([
    true,
    false,
  ]);
});

test('a server that does not answer stops nobody', async () => {
  await database.destroy();
  await warnOfServerDefaults(database, logger);
  expect(said).toEqual([]);
});

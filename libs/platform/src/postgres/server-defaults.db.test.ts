import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource } from 'typeorm';
import { openDatabase } from './database.ts';
import { adviceFor, readSettings, warnAboutServerDefaults, type ServerSetting } from './server-defaults.ts';

let testDatabase: TestDatabase;
let database: DataSource;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({ url: testDatabase.url, name: 'settings-test', poolSize: 1 });
});
afterAll(async () => {
  if (database.isInitialized) await database.destroy();
  await testDatabase.close();
});

const warnings: string[] = [];
const logger = { warn: (_facts: unknown, text: string) => void warnings.push(text) } as unknown as Parameters<
  typeof warnAboutServerDefaults
>[1];

test('there is no warning for our test server, which has both settings changed from their defaults', async () => {
  expect(await readSettings(database)).toEqual([
    { name: 'max_pred_locks_per_page', setting: '200', byDefault: '2' },
    { name: 'max_pred_locks_per_relation', setting: '20000', byDefault: '-2' },
  ]);
  await warnAboutServerDefaults(database, logger);
  expect(warnings).toEqual([]);
});

/**
 * Returns the settings of our test server, with the settings `names` replaced by their defaults. The test cannot set the defaults
 * on the server itself, because a session cannot change these settings.
 */
const withDefaults = async (names: readonly string[]): Promise<ServerSetting[]> =>
  (await readSettings(database)).map((row) => (names.includes(row.name) ? { ...row, setting: row.byDefault } : row));

test('for a server with both defaults the warning names both settings and the statements that change them', async () => {
  const advice = adviceFor(await withDefaults(['max_pred_locks_per_page', 'max_pred_locks_per_relation'])) ?? '';
  expect(advice).toContain('max_pred_locks_per_page = 2, max_pred_locks_per_relation = -2');
  for (const statement of advice.match(/alter system[^;]+;/g) ?? []) expect(statement).toMatch(/ = (200|20000);$/);
  expect(advice.match(/alter system/g)).toHaveLength(2);
  expect(advice).toContain('select pg_reload_conf();');
});

test('the warning names only settings that have their default', async () => {
  const advice = adviceFor(await withDefaults(['max_pred_locks_per_page'])) ?? '';
  expect([advice.includes('max_pred_locks_per_page = 200'), advice.includes('max_pred_locks_per_relation')]).toEqual([
    true,
    false,
  ]);
});

test('when the settings cannot be read there is no warning and no error', async () => {
  await database.destroy();
  await warnAboutServerDefaults(database, logger);
  expect(warnings).toEqual([]);
});

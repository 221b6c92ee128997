import { Redis } from 'ioredis';
import pg from 'pg';
import { createTestDatabase, createTestRedis } from './test-database.ts';

describe('a test database', () => {
  test('does not contain the tables of another test database', async () => {
    const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    const client = new pg.Client({ connectionString: first.url });
    await client.connect();
    await client.query('create table only_here (id int)');
    await client.end();
    const secondClient = new pg.Client({ connectionString: second.url });
    await secondClient.connect();
    const { rows } = await secondClient.query("select to_regclass('only_here') as found");
    await secondClient.end();
    expect(rows[0].found).toBeNull();
    await Promise.all([first.close(), second.close()]);
  });

  test('is on a server with the settings that our SERIALIZABLE batches need', async () => {
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query('select name, setting from pg_settings where name = any($1) order by name', [
      ['max_connections', 'max_pred_locks_per_page', 'max_pred_locks_per_relation'],
    ]);
    await client.end();
    await database.close();
    expect(rows.map(({ setting }) => Number(setting))).toEqual([200, 200, 20_000]);
  });

  test('cannot be closed while a connection is open: the error names the connection', async () => {
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.url, application_name: 'forgotten' });
    client.on('error', () => undefined);
    await client.connect();
    await expect(database.close()).rejects.toThrow(/1 leaked connection.*\nforgotten/);
    await client.end().catch(() => undefined);
  });
});

test('createTestRedis returns an empty Redis, even if an earlier test has written to it', async () => {
  const first = await createTestRedis();
  const client = new Redis(first.url);
  await client.set('left', 'over');
  const second = await createTestRedis();
  expect(await client.dbsize()).toBe(0);
  await client.quit();
  await Promise.all([first.close(), second.close()]);
});

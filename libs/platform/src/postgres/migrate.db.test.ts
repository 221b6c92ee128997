import { schemaLines } from '#testing/schema-catalog';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { projectFile } from '../project-root.ts';
import { migrate, sqlMigrations } from './migrate.ts';

const BASELINE = 'baseline0000000000001';
const names = (migrations: ReturnType<typeof sqlMigrations>): string[] => migrations.map((Migration) => new Migration().name);
const olderFiles = sqlMigrations(projectFile('migrations/before-baseline'));
const older = names(olderFiles);
const later = names(sqlMigrations()).slice(1);

let testDatabase: TestDatabase;
let client: pg.Client;
let expectedSchema: string[];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  client = await connect();
  await empty();
  await migrate(testDatabase.url);
  expectedSchema = await schemaLines(client);
});
beforeEach(empty);
afterAll(async () => {
  await client.end();
  await testDatabase.close();
});

async function connect(): Promise<pg.Client> {
  const opened = new pg.Client({ connectionString: testDatabase.url });
  await opened.connect();
  return opened;
}

async function empty(): Promise<void> {
  await client.query('drop schema public cascade; create schema public');
}

/** Runs the first files of the time before the baseline, with the TypeORM calls of that time. */
async function runOlder(count: number): Promise<void> {
  const dataSource = new DataSource({
    type: 'postgres',
    url: testDatabase.url,
    migrations: olderFiles.slice(0, count),
    migrationsTransactionMode: 'each',
    installExtensions: false,
    logging: false,
  });
  await dataSource.initialize();
  await dataSource.runMigrations().finally(() => dataSource.destroy());
}

async function recorded(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from migrations order by id');
  return rows.map(({ name }) => name);
}

test('the older files are the 15 that landed before the baseline', () => {
  expect(older).toHaveLength(15);
  expect(older.at(-1)).toBe('restored_queues0000000000016');
  expect(names(sqlMigrations())[0]).toBe(BASELINE);
});

test('an empty database: the baseline runs, the older files do not', async () => {
  expect(await migrate(testDatabase.url)).toEqual({ applied: [BASELINE, ...later], recordedOnly: [] });
  expect(await recorded()).toEqual([BASELINE, ...later]);
  expect(await migrate(testDatabase.url)).toEqual({ applied: [], recordedOnly: [] });
});

test('a database with all older files: the baseline is recorded and does not run', async () => {
  await runOlder(older.length);
  expect(await migrate(testDatabase.url)).toEqual({ applied: later, recordedOnly: [BASELINE] });
  expect(await recorded()).toEqual([...older, BASELINE, ...later]);
  expect(await migrate(testDatabase.url)).toEqual({ applied: [], recordedOnly: [] });
});

test.each(older.map((_, count) => count + 1))(
  'a database with the first %i older files: the missing ones run in order, then the baseline is recorded; the schema is that of an empty database',
  async (count) => {
    await runOlder(count);
    expect(await migrate(testDatabase.url)).toEqual({ applied: [...older.slice(count), ...later], recordedOnly: [BASELINE] });
    expect(await recorded()).toEqual([...older, BASELINE, ...later]);
    expect(await schemaLines(client)).toEqual(expectedSchema);
  },
);

test('an empty database with an empty table of migrations, as a process leaves it that was killed before its first file, gets the baseline', async () => {
  await runOlder(0);
  expect(await migrate(testDatabase.url)).toEqual({ applied: [BASELINE, ...later], recordedOnly: [] });
  expect(await schemaLines(client)).toEqual(expectedSchema);
});

describe('a migration that lands after the baseline', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tribina-migrations-'));
  const example = 'example0000000009999';

  beforeAll(() => {
    fs.cpSync(projectFile('migrations'), folder, { recursive: true });
    fs.writeFileSync(path.join(folder, '9999-example.sql'), 'alter table tickets add column example text');
  });
  afterAll(() => fs.rmSync(folder, { recursive: true }));

  test.each([0, 7, older.length])('runs last in a database with %i older files', async (count) => {
    await runOlder(count);
    const { applied } = await migrate(testDatabase.url, folder);
    expect(applied.at(-1)).toBe(example);
    expect((await recorded()).slice(-2)).toEqual([later.at(-1) ?? BASELINE, example]);
  });

  test('runs alone in a database with the baseline', async () => {
    await migrate(testDatabase.url);
    expect(await migrate(testDatabase.url, folder)).toEqual({ applied: [example], recordedOnly: [] });
  });

  test('is ignored by the version before it, which has nothing to migrate', async () => {
    await migrate(testDatabase.url, folder);
    expect(await migrate(testDatabase.url)).toEqual({ applied: [], recordedOnly: [] });
  });
});

describe('a database in an unknown state is refused and not changed', () => {
  test.each([
    ['tables and no record of migrations', 'create table orders (id int)', 'no record of our migrations: orders'],
    [
      'tables and an empty record',
      'create table orders (id int); create table migrations (id serial, timestamp bigint, name text)',
      'no record of our migrations: orders',
    ],
    [
      'migrations of another application',
      `create table migrations (id serial, timestamp bigint, name text); insert into migrations (name) values ('users1700000000000')`,
      'does not know: users1700000000000',
    ],
  ])('%s', async (_, sql, message) => {
    await client.query(sql);
    const before = await schemaLines(client);
    await expect(migrate(testDatabase.url)).rejects.toThrow(message);
    expect(await schemaLines(client)).toEqual(before);
  });
});

test.each([0, 7])('two concurrent calls in a database with %i older files: each file is applied once', async (count) => {
  await runOlder(count);
  const reports = await Promise.all([migrate(testDatabase.url), migrate(testDatabase.url)]);
  const both = reports.flatMap(({ applied, recordedOnly }) => [...applied, ...recordedOnly]);
  expect(both.sort()).toEqual([...(count ? older.slice(count) : []), BASELINE, ...later].sort());
  expect(reports.filter(({ applied }) => applied.length === 0)).toHaveLength(1);
  expect(await recorded()).toEqual([...(count ? older : []), BASELINE, ...later]);
  expect(await schemaLines(client)).toEqual(expectedSchema);
});

describe('after kill -9 the next call goes on', () => {
  const COMMAND = `import(process.argv[1]).then(({ migrate }) => migrate(process.argv[2]))`;

  /** Resolves when so many statements of `migrate` wait for the blocker. */
  async function untilWaiting(count: number): Promise<void> {
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and application_name = 'tribina-migrate'
      and wait_event_type = 'Lock' and wait_event <> 'advisory'`;
    const giveUpAt = Date.now() + 10_000;
    while ((await client.query(waiting)).rowCount !== count) {
      if (Date.now() > giveUpAt) throw new Error(`never ${count} waiting statement(s) of migrate`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /** Starts `migrate` in another process and kills it while one of its statements waits for the blocker. */
  async function killWhileWaiting(): Promise<void> {
    const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning', '--input-type=module'];
    const file = projectFile('libs/platform/src/postgres/migrate.ts');
    const child = spawn(process.execPath, [...flags, '-e', COMMAND, file, testDatabase.url], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ended = once(child, 'exit');
    await untilWaiting(1).finally(() => child.kill('SIGKILL'));
    await ended;
  }

  test.each([
    ['during the baseline', 0, 'create table tickets (id int)', [], [BASELINE]],
    ['during an older file', 11, 'lock table orders in access exclusive mode', older.slice(0, 12), [...older, BASELINE]],
    ['before the baseline is recorded', 15, 'lock table migrations in exclusive mode', older, [...older, BASELINE]],
  ])('%s', async (_, count, block, afterKill, atTheEnd) => {
    await runOlder(count);
    const blocker = await connect();
    await blocker.query(`begin; ${block}`);
    await killWhileWaiting();
    expect(await recorded()).toEqual(afterKill);
    // The server notices the killed client only after the statement of that client, so the next call overlaps with it. Both wait.
    const next = migrate(testDatabase.url);
    await untilWaiting(2);
    await blocker.query('rollback');
    await blocker.end();
    await next;
    expect(await recorded()).toEqual([...atTheEnd, ...later]);
    expect(await schemaLines(client)).toEqual(expectedSchema);
  });
});

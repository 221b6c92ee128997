import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { newId } from '../ids.ts';
import { projectFile } from '../project-root.ts';
import { migrate } from './migrate.ts';
import { credentialsIn, grantRights } from './services-role.ts';
import { sqlstateOf } from './sqlstates.ts';

// The rights of the services' role, tried with real statements of that role.

const password = 'a pass:word@/';
let database: TestDatabase;
let owner: pg.Client;
let services: pg.Client;
let role: { user: string; password: string; hasJobs: boolean };

beforeAll(async () => {
  database = await createTestDatabase();
  role = { user: `services_${newId().replaceAll('-', '')}`, password, hasJobs: false };
  owner = await connect(database.url);
  await owner.query('drop schema public cascade; create schema public');
  await migrate(database.url, undefined, { services: role });
  services = await connect(servicesUrl());
});
afterAll(async () => {
  await services.end();
  await owner.query(`drop owned by ${role.user}; drop role ${role.user}`);
  await owner.end();
  await database.close();
});

function servicesUrl(): string {
  const url = new URL(database.url);
  [url.username, url.password] = [role.user, password];
  return url.href;
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}

const DENIED = '42501';
const tried = (sql: string): Promise<string | undefined> =>
  services.query(sql).then(
    () => 'allowed',
    (error: unknown) => sqlstateOf(error),
  );

const rows = {
  audit_log: `insert into audit_log (id, actor, roles, action, target_type, request_id, address)
              values (gen_random_uuid(), 'ana', '{ops}', 'refundOrder', 'order', 'r-1', '127.0.0.1')`,
  quota_moves: `insert into quota_moves (id, match_id, kind, actor, to_quota, quantity, reason, seat_ids)
                select gen_random_uuid(), match_id, 'creation', 'ana', id, 1, 'creation', array[id] from quotas`,
  loaded_events: `insert into loaded_events (source, event_id, payload) values ('gates', 'e-1', '{}')`,
};

beforeAll(async () => {
  await services.query(`insert into matches (id, home, away, venue, kickoff_at, currency, max_tickets_per_fan, queue_required, sale_status,
                                             processing_rate, max_open_windows)
                        values (gen_random_uuid(), 'Hajduk', 'Dinamo', 'Poljud', now(), 'EUR', 4, false, 'scheduled', 600, 10)`);
  await services.query(
    `insert into quotas (id, match_id, depth, name, kind) select gen_random_uuid(), id, 1, 'Club', 'club' from matches`,
  );
});

test.each(Object.entries(rows))(
  'the services add rows to %s and read them, and cannot change or delete them',
  async (table, insert) => {
    expect(await tried(insert)).toBe('allowed');
    expect((await services.query(`select from ${table}`)).rowCount).toBe(1);
    const changes = [
      `update ${table} set ${table === 'loaded_events' ? 'payload = payload' : 'actor = actor'}`,
      `delete from ${table}`,
      `truncate ${table}`,
      `select from ${table} for update`,
      `alter table ${table} disable trigger all`,
      `drop table ${table}`,
    ];
    for (const sql of changes) expect([sql, await tried(sql)]).toEqual([sql, DENIED]);
    expect((await owner.query(`select from ${table}`)).rowCount).toBe(1);
  },
);

test('negative control: the owner may delete rows of the audit log', async () => {
  await owner.query('begin');
  expect((await owner.query('delete from audit_log')).rowCount).toBe(1);
  await owner.query('rollback');
});

test('the owner cannot change rows of the audit log either', async () => {
  await expect(owner.query(`update audit_log set actor = 'somebody else'`)).rejects.toThrow('only added, never changed');
});

test('the services change and delete rows of every other table, and cannot change the schema', async () => {
  const { rows: tables } = await owner.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename <> all($1)`,
    [[...Object.keys(rows), 'migrations']],
  );
  expect(tables.length).toBeGreaterThan(25);
  for (const { name } of tables) expect([name, await tried(`delete from ${name} where false`)]).toEqual([name, 'allowed']);
  for (const sql of ['create table mine (id int)', 'alter table matches add x int', 'drop table matches', 'create schema mine'])
    expect([sql, await tried(sql)]).toEqual([sql, DENIED]);
  expect([await tried('select from migrations'), await tried('delete from migrations')]).toEqual(['allowed', DENIED]);
});

test('a table and a sequence of a later migration are granted by the same migrate, and an old one keeps its owner', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tribina-grants-'));
  try {
    fs.cpSync(projectFile('migrations'), folder, { recursive: true });
    fs.writeFileSync(path.join(folder, '9001-later.sql'), 'create table later (id serial primary key, note text)');
    await owner.query('create role former; create table old_one (id int); alter table old_one owner to former');
    await migrate(database.url, folder, { services: { user: role.user, hasJobs: false } });
    expect(await tried(`insert into later (note) values ('x')`)).toBe('allowed');
    expect(await tried(rows.audit_log)).toBe('allowed');
    expect(await tried('delete from audit_log')).toBe(DENIED);
    const owners = await owner.query(
      `select tableowner from pg_tables where tablename in ('old_one', 'matches') order by tablename desc`,
    );
    expect(owners.rows).toEqual([{ tableowner: 'former' }, { tableowner: credentialsIn(database.url)?.user }]);
  } finally {
    fs.rmSync(folder, { recursive: true });
    await owner.query('drop table old_one, later; drop role former');
  }
});

test('two migrations at once both succeed, and one more changes nothing', async () => {
  const options = { services: role };
  await Promise.all([migrate(database.url, undefined, options), migrate(database.url, undefined, options)]);
  expect(await migrate(database.url, undefined, options)).toEqual({ applied: [], recordedOnly: [] });
  expect([await tried(rows.audit_log), await tried('delete from audit_log')]).toEqual(['allowed', DENIED]);
});

test('an owner who does not own all tables is told so, and the services keep the rights that they had', async () => {
  const former = `former_${newId().replaceAll('-', '')}`;
  await owner.query(`create role ${former} login password 'x'; grant create, usage on schema public to ${former}`);
  const url = new URL(database.url);
  [url.username, url.password] = [former, 'x'];
  const runner = await connect(url.href);
  try {
    const grants = grantRights({ query: async (sql, values) => (await runner.query(sql, values)).rows }, role);
    await expect(grants).rejects.toThrow('DATABASE_MIGRATION_URL must name the owner of all tables');
    expect([await tried(rows.audit_log), await tried('delete from audit_log')]).toEqual(['allowed', DENIED]);
  } finally {
    await runner.end();
    await owner.query(`drop owned by ${former}; drop role ${former}`);
  }
});

test('a role that does not exist is refused by name, and the migrations before it have run', async () => {
  const missing = { user: 'nobody-there', hasJobs: false };
  await expect(migrate(database.url, undefined, { services: missing })).rejects.toThrow('no database role "nobody-there"');
});

test('services that connect as the owner keep all rights', async () => {
  const user = credentialsIn(database.url)?.user ?? '';
  expect(await migrate(database.url, undefined, { services: { user, hasJobs: false } })).toEqual({
    applied: [],
    recordedOnly: [],
  });
});

test('with jobs in PostgreSQL the services may create the schema of BullMQ', async () => {
  await migrate(database.url, undefined, { services: { ...role, hasJobs: true } });
  expect(await tried('create schema bullmq')).toBe('allowed');
  await migrate(database.url, undefined, { services: { ...role, hasJobs: true } });
  expect(await tried('create table bullmq.job (id int)')).toBe('allowed');
});

test.each([
  ['postgres://ana:p%40ss@127.0.0.1:5/d', { user: 'ana', password: 'p@ss' }],
  ['postgresql://ana@host1:5,host2:6/d?sslmode=verify-full', { user: 'ana', password: '' }],
  ['postgres://127.0.0.1/d', undefined],
])('the user and password in %s', (url, credentials) => {
  expect(credentialsIn(url)).toEqual(credentials);
});

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { startOnFreePort } from './free-port.ts';
import type { LocalServer } from './local-server.ts';
import { startPostgres } from './postgres.ts';
import { publicFolderOf } from './public-folder.ts';
import { isRunning } from './processes.ts';
import { startRedis } from './redis.ts';
import { STANDBY_NAME, startStandby } from './standby.ts';

// Tests of the database servers that `npm start` starts: they must keep their data after a stop and after a crash.

const folder = mkdtempSync(path.join(tmpdir(), 'tribina-servers-'));
const started: LocalServer[] = [];

afterAll(async () => {
  await Promise.all(started.map((server) => server.stop()));
  rmSync(folder, { recursive: true });
  rmSync(publicFolderOf(path.join(folder, 'closed/postgres')), { recursive: true, force: true });
});
chmodSync(folder, 0o711);

const say = () => undefined;
const stopAfterTests = async (server: Promise<LocalServer>) => {
  started.push(await server);
  return server;
};
const postgresIn = (name: string) =>
  stopAfterTests(startOnFreePort(undefined, (port) => startPostgres({ folder: path.join(folder, name), port, say })));
const redisIn = (name: string) =>
  stopAfterTests(startOnFreePort(undefined, (port) => startRedis({ folder: path.join(folder, name), port, say })));

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

async function redisCommand(url: string, command: string, ...args: string[]): Promise<unknown> {
  const client = new Redis(url);
  try {
    return await client.call(command, ...args);
  } finally {
    await client.quit();
  }
}

/** Starts a killed PostgreSQL again. Its data is locked until the last child of the killed process has ended. */
async function startAfterKill<T>(start: () => Promise<T>): Promise<T> {
  for (const giveUpAt = Date.now() + 20_000; ;) {
    try {
      return await start();
    } catch (error) {
      if (Date.now() > giveUpAt || !String(error).includes('shared memory block is still in use')) throw error;
      await sleep(100);
    }
  }
}

test('PostgreSQL keeps its data after a stop and after kill -9', async () => {
  const first = await postgresIn('postgres');
  await query(first.url, 'create table tickets (id int); insert into tickets values (1)');
  await first.stop();
  const second = await postgresIn('postgres');
  await query(second.url, 'insert into tickets values (2)');
  process.kill(second.identity.pid, 'SIGKILL');
  await second.ended;
  const third = await startAfterKill(() => postgresIn('postgres'));
  expect(await query(third.url, 'select id from tickets order by id')).toEqual([[1], [2]]);
});

test('startPostgres ends a PostgreSQL that an earlier npm start left running before it starts the next one', async () => {
  const orphan = started.at(-1)!;
  const next = await postgresIn('postgres');
  expect([isRunning(orphan.identity), isRunning(next.identity)]).toEqual([false, true]);
});

test('PostgreSQL starts even if its folder is inside a folder that only the owner may enter', async () => {
  mkdirSync(path.join(folder, 'closed'), { mode: 0o700 });
  const server = await postgresIn('closed/postgres');
  expect(await query(server.url, "select current_setting('server_encoding'), current_setting('TimeZone')")).toEqual([
    ['UTF8', 'UTC'],
  ]);
});

test('a standby has the data that the primary wrote before and after its start; it refuses writes until it is promoted', async () => {
  const primary = await postgresIn('followed');
  await query(primary.url, 'create table tickets (id int); insert into tickets values (1)');
  const [primaryFolder, standbyFolder] = [path.join(folder, 'followed'), path.join(folder, 'standby')];
  const options = { folder: standbyFolder, primaryFolder, primaryUrl: primary.url, throwaway: false };
  const standby = await stopAfterTests(startOnFreePort(undefined, (port) => startStandby({ ...options, port })));
  await query(primary.url, `alter system set synchronous_standby_names = '${STANDBY_NAME}'`);
  await query(primary.url, 'select pg_reload_conf()');
  for (const deadline = Date.now() + 10_000; Date.now() < deadline;) {
    const [row] = await query(primary.url, 'select sync_state from pg_stat_replication');
    if (String(row) === 'sync') break;
  }
  await query(primary.url, 'insert into tickets values (2)');
  process.kill(primary.identity.pid, 'SIGKILL');
  await primary.ended;
  await expect(query(standby.url, 'insert into tickets values (3)')).rejects.toThrow('read-only');
  await query(standby.url, 'select pg_promote()');
  await query(standby.url, 'insert into tickets values (3)');
  expect(await query(standby.url, 'select id from tickets order by id')).toEqual([[1], [2], [3]]);
});

test('Redis keeps its data after a stop, and a Redis that was left running is ended before the next one starts', async () => {
  const first = await redisIn('redis');
  await redisCommand(first.url, 'SET', 'place', '17');
  await first.stop();
  const orphan = await redisIn('redis');
  await redisCommand(orphan.url, 'SET', 'turn', 'yes');
  const next = await redisIn('redis');
  expect([isRunning(orphan.identity), isRunning(next.identity)]).toEqual([false, true]);
  expect([await redisCommand(next.url, 'GET', 'place'), await redisCommand(next.url, 'GET', 'turn')]).toEqual(['17', 'yes']);
});

test('Redis never evicts keys, fsyncs its append-only file every second and listens on 127.0.0.1 only', async () => {
  const { url } = started.at(-1)!;
  const settings = ['maxmemory-policy', 'appendonly', 'appendfsync', 'bind'];
  const answers = await Promise.all(settings.map((name) => redisCommand(url, 'CONFIG', 'GET', name)));
  expect(answers.map((answer) => (answer as string[])[1])).toEqual(['noeviction', 'yes', 'everysec', '127.0.0.1']);
});

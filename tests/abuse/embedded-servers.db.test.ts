import { Redis } from 'ioredis';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startOnFreePort } from '../../tools/local/free-port.ts';
import type { LocalServer } from '../../tools/local/local-server.ts';
import { startPostgres } from '../../tools/local/postgres.ts';
import { commandLine } from '../../tools/local/processes.ts';
import { publicFolderOf } from '../../tools/local/public-folder.ts';
import { startRedis } from '../../tools/local/redis.ts';

// Attack: another user of the machine connects to the PostgreSQL and the Redis of `npm start`, whose ports are open to all its users, and
// reads the tickets or empties the line.

const home = mkdtempSync(path.join(tmpdir(), 'tribina-embedded-'));
const started: LocalServer[] = [];
const start = async (server: (port: number) => Promise<LocalServer>): Promise<LocalServer> => {
  const running = await startOnFreePort(undefined, server);
  started.push(running);
  return running;
};
const folderOf = (name: string): string => path.join(home, name);
const redisOf = (name: string, hasPassword?: boolean) =>
  start((port) => startRedis({ folder: folderOf(name), port, ...(hasPassword === undefined ? {} : { hasPassword }) }));

afterAll(async () => {
  await Promise.all(started.map((server) => server.stop()));
  rmSync(publicFolderOf(folderOf('postgres')), { recursive: true, force: true });
  rmSync(home, { recursive: true });
});

/** The answer to a command, or the error, of a caller with this URL. */
async function redisAnswer(url: string, command: string, ...args: string[]): Promise<string> {
  const client = new Redis(url, { lazyConnect: true, enableReadyCheck: false, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    return String(await client.call(command, ...args));
  } catch (error) {
    return String(error);
  } finally {
    client.disconnect();
  }
}

/** The URL with this password instead of the right one, or without a password. */
function withPassword(url: string, password: string): string {
  const changed = new URL(url);
  changed.password = password;
  return changed.href;
}

test('Redis refuses callers without its password and with a wrong one', async () => {
  const { url } = await redisOf('redis');
  expect(await redisAnswer(url, 'SET', 'line', '17')).toBe('OK');
  expect(new URL(url).password.length).toBeGreaterThanOrEqual(24);
  expect(await redisAnswer(withPassword(url, ''), 'FLUSHALL')).toContain('NOAUTH');
  expect(await redisAnswer(withPassword(url, 'wrong'), 'FLUSHALL')).toMatch(/WRONGPASS|NOAUTH/);
  expect(await redisAnswer(url, 'GET', 'line')).toBe('17');
});

test('the password of Redis is random, in files of mode 0600 and not among the arguments of its process', async () => {
  const [first, other] = [started.at(-1)!, await redisOf('other-redis')];
  const passwords = [first, other].map(({ url }) => new URL(url).password);
  expect(new Set(passwords).size).toBe(2);
  for (const file of ['password', 'redis.conf']) {
    expect((statSync(path.join(folderOf('redis'), file)).mode & 0o777).toString(8)).toBe('600');
    expect(readFileSync(path.join(folderOf('redis'), file), 'utf8')).toContain(passwords[0]);
  }
  expect(commandLine(first.identity.pid)).not.toContain(passwords[0]);
});

test('a home that an earlier version made, without a password, gets one and keeps its data', async () => {
  const before = await redisOf('old-redis', false);
  expect(await redisAnswer(before.url, 'SET', 'line', '17')).toBe('OK');
  expect(new URL(before.url).password).toBe('');
  await before.stop();
  const after = await redisOf('old-redis');
  expect(await redisAnswer(after.url, 'GET', 'line')).toBe('17');
  expect(await redisAnswer(withPassword(after.url, ''), 'GET', 'line')).toContain('NOAUTH');
  await after.stop();
  expect((await redisOf('old-redis')).url.split('@')[0]).toBe(after.url.split('@')[0]);
});

test('PostgreSQL refuses callers without its password and with a wrong one', async () => {
  mkdirSync(folderOf('postgres'), { recursive: true });
  const { url } = await start((port) => startPostgres({ folder: folderOf('postgres'), port }));
  expect(new URL(url).password.length).toBeGreaterThanOrEqual(24);
  for (const password of ['', 'wrong', 'tribina']) {
    const client = new pg.Client({ connectionString: withPassword(url, password) });
    client.on('error', () => undefined);
    await expect(client.connect()).rejects.toThrow(/password/);
  }
});

test('data of PostgreSQL whose password file is gone gets a new password and is kept', async () => {
  const folder = folderOf('postgres');
  const run = async (url: string, sql: string): Promise<unknown[]> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client
      .query(sql)
      .then(({ rows }) => rows)
      .finally(() => client.end());
  };
  const before = started.at(-1)!;
  await run(before.url, 'create table tickets as select 17 as id');
  await before.stop();
  for (const place of [folder, publicFolderOf(folder)]) rmSync(path.join(place, 'password'), { force: true });
  const after = await start((port) => startPostgres({ folder, port }));
  expect(await run(after.url, 'select id from tickets')).toEqual([{ id: 17 }]);
  expect(new URL(after.url).password).not.toBe(new URL(before.url).password);
});

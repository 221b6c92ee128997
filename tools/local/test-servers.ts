// The databases of one test run, as a process of their own: starts PostgreSQL and Redis in a temporary folder, prints their
// addresses and pids as one line of JSON, and takes everything away again when its stdin closes. A pipe closes however its
// other end dies, so a test run that crashes or is killed leaves nothing behind. With --durable they are those of `npm start`,
// with fsync, on a disk: what a benchmark measures. Until then each line `kill postgres`, `start postgres`, `kill redis` or
// `start redis` does so, with kill -9, and is answered by a line `done`: what happens to a server in tests/faults. `start standby
// <url>` starts a PostgreSQL that follows the first, which it reaches at this url, and is answered by its own; `kill standby` ends it.
// Usage: node tools/local/test-servers.ts <number of Redis> [--durable]
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { onFreePort } from './free-port.ts';
import type { LocalServer } from './local-server.ts';
import { startPostgres } from './postgres.ts';
import { isReachable, publicStandIn } from './public-folder.ts';
import { endProcess, identify, isRunning, type ProcessIdentity } from './processes.ts';
import { startRedis } from './redis.ts';
import { startStandby } from './standby.ts';
import { explain } from './trouble.ts';

const PREFIX = 'tribina-test-';
const throwaway = !process.argv.includes('--durable');
/** /tmp lies in memory on many machines, where an fsync costs nothing. */
const base = [...(throwaway ? [tmpdir()] : []), '/var/tmp', '/tmp'].find(isReachable) ?? tmpdir();
const say = (line: string) => void process.stderr.write(`${line}\n`);

interface Record {
  owner: ProcessIdentity;
  servers: ProcessIdentity[];
}

const folder = mkdtempSync(path.join(base, PREFIX));
chmodSync(folder, 0o711); // For root, PostgreSQL runs as nobody and must get through.
let servers: LocalServer[] = [];
const folderOf = (name: string) => path.join(folder, name);

function writeRecord(): void {
  const record: Record = { owner: identify(process.pid)!, servers: servers.map((server) => server.identity) };
  writeFileSync(path.join(folder, 'owner.json'), JSON.stringify(record));
}

/** What a run left that was killed together with this process (a container stopped, kill -9 on the whole group). */
async function sweep(): Promise<void> {
  for (const name of readdirSync(base)) {
    if (!name.startsWith(PREFIX)) continue;
    const record = readRecord(path.join(base, name));
    if (!record || isRunning(record.owner)) continue;
    await Promise.all(record.servers.map((server) => endProcess(server, 'SIGKILL', 2_000)));
    remove(path.join(base, name));
  }
}

function readRecord(place: string): Record | undefined {
  try {
    return JSON.parse(readFileSync(path.join(place, 'owner.json'), 'utf8')) as Record;
  } catch {
    return undefined; // Somebody else's, or its owner is just about to write it.
  }
}

function remove(place: string): void {
  rmSync(place, { recursive: true, force: true, maxRetries: 5 });
  rmSync(publicStandIn(path.join(place, 'postgres')), { recursive: true, force: true });
}

async function keep(start: Promise<LocalServer>): Promise<LocalServer> {
  const server = await start;
  servers.push(server);
  writeRecord();
  return server;
}

async function kill(server: LocalServer): Promise<void> {
  servers = servers.filter((other) => other !== server);
  process.kill(server.identity.pid, 'SIGKILL');
  await server.ended;
}

/** A PostgreSQL whose postmaster was killed is refused its data until the last of its old processes has noticed. */
async function startAgain(start: () => Promise<LocalServer>): Promise<LocalServer> {
  for (const giveUpAt = Date.now() + 30_000; ;) {
    try {
      return await keep(start());
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await sleep(100);
    }
  }
}

let stopping = false;
async function stop(code: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  // Nothing in them is worth a checkpoint.
  await Promise.all(servers.map((server) => endProcess(server.identity, 'SIGQUIT', 2_000)));
  remove(folder);
  process.exit(code);
}

// Ctrl-C reaches the whole group: stay until the tests are done with us and close the pipe.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => void stop(0));
process.on('SIGHUP', () => void stop(0));

try {
  writeRecord();
  await sweep();
  const starting = keep(onFreePort(undefined, (port) => startPostgres({ folder: folderOf('postgres'), port, throwaway })));
  const redis: LocalServer[] = [];
  for (let number = 1; number <= Number(process.argv[2] ?? 1); number += 1) {
    const place = folderOf(`redis-${number}`);
    redis.push(await keep(onFreePort(undefined, (port) => startRedis({ folder: place, port, throwaway, say }))));
  }
  let postgres = await starting;
  const pids = { postgres: postgres.identity.pid, redis: redis.map(({ identity }) => identity.pid) };
  process.stdout.write(`${JSON.stringify({ database: postgres.url, redis: redis.map(({ url }) => url), pids })}\n`);
  let standby: LocalServer | undefined;
  const follow = (primaryUrl: string) => {
    const options = { folder: folderOf('standby'), primaryFolder: folderOf('postgres'), primaryUrl, throwaway };
    return keep(onFreePort(undefined, (port) => startStandby({ ...options, port })));
  };
  const orders: { readonly [line: string]: (word: string) => Promise<unknown> } = {
    'kill postgres': () => kill(postgres),
    'start postgres': async () =>
      (postgres = await startAgain(() => startPostgres({ folder: folderOf('postgres'), port: postgres.port, throwaway }))),
    'start standby': async (primaryUrl) => (standby = await follow(primaryUrl)).url,
    'kill standby': async () => standby && kill(standby),
    'kill redis': () => kill(redis[0]!),
    'start redis': async () =>
      (redis[0] = await startAgain(() => startRedis({ folder: folderOf('redis-1'), port: redis[0]!.port, throwaway, say }))),
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const [verb, server, word = ''] = line.split(' ');
    const answer = await orders[`${verb} ${server}`]?.(word);
    process.stdout.write(`${typeof answer === 'string' ? answer : 'done'}\n`);
  }
  await stop(0);
} catch (error) {
  say(explain(error));
  await stop(1);
}

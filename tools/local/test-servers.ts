// The database servers of one test run, in a separate process. It starts PostgreSQL and Redis in a temporary folder and prints
// their URLs and pids as one line of JSON. When its stdin closes, it ends the servers and removes their data. A pipe closes even
// if the test run crashes or is killed, so nothing is left behind. With --durable the servers are those of `npm start`, with
// fsync, on a disk: benchmarks measure such servers.
//
// Each line on stdin is a command for tests/faults. `kill postgres` and `kill redis` send kill -9, `start postgres` and `start
// redis` start the server again; the answer is a line `done`. `start standby <url>` starts a PostgreSQL that replicates the first
// one, which it reaches at this URL; the answer is the standby's own URL. `kill standby` ends it.
//
// Usage: node tools/local/test-servers.ts <number of Redis servers> [--durable]
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOnFreePort } from './free-port.ts';
import type { LocalServer } from './local-server.ts';
import { readJson } from './optional-file.ts';
import { startPostgres } from './postgres.ts';
import { isOpenToUserNobody, publicFolderOf } from './public-folder.ts';
import { endProcess, identify, isRunning, type ProcessIdentity } from './processes.ts';
import { startRedis } from './redis.ts';
import { startStandby } from './standby.ts';
import { explain } from './trouble.ts';

const PREFIX = 'tribina-test-';
const throwaway = !process.argv.includes('--durable');
/**
 * The folder for the data. Durable servers use /tmp only if /var/tmp is not usable, because on many machines /tmp is in memory,
 * where an fsync costs nothing.
 */
const base = [...(throwaway ? [tmpdir()] : []), '/var/tmp', '/tmp'].find(isOpenToUserNobody) ?? tmpdir();
const say = (line: string) => void process.stderr.write(`${line}\n`);

/** The contents of owner.json in the folder of a test run. */
interface OwnerRecord {
  owner: ProcessIdentity;
  servers: ProcessIdentity[];
}

const folder = mkdtempSync(path.join(base, PREFIX));
chmodSync(folder, 0o711); // If this runs as root, PostgreSQL runs as user nobody and must be able to enter the folder.
let servers: LocalServer[] = [];
const folderOf = (name: string) => path.join(folder, name);

function writeRecord(): void {
  const record: OwnerRecord = { owner: identify(process.pid)!, servers: servers.map((server) => server.identity) };
  writeFileSync(path.join(folder, 'owner.json'), JSON.stringify(record));
}

/** Removes the servers and folders of test runs that were killed together with their own test-servers process. */
async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(base)) {
    if (!name.startsWith(PREFIX)) continue;
    // There is no record if the folder belongs to another user, or if its owner has not written the file yet.
    const record = readJson<OwnerRecord>(path.join(base, name, 'owner.json'));
    if (!record || isRunning(record.owner)) continue;
    await Promise.all(record.servers.map((server) => endProcess(server, 'SIGKILL', 2_000)));
    remove(path.join(base, name));
  }
}

function remove(runFolder: string): void {
  rmSync(runFolder, { recursive: true, force: true, maxRetries: 5 });
  rmSync(publicFolderOf(path.join(runFolder, 'postgres')), { recursive: true, force: true });
}

async function register(start: Promise<LocalServer>): Promise<LocalServer> {
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

/**
 * Starts a killed server again and retries for 30 s: after a kill of PostgreSQL's main process, the data is locked until its last
 * child process has ended.
 */
async function startAgain(start: () => Promise<LocalServer>): Promise<LocalServer> {
  for (const giveUpAt = Date.now() + 30_000; ;) {
    try {
      return await register(start());
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
  // SIGQUIT ends PostgreSQL without a checkpoint. The data is removed anyway.
  await Promise.all(servers.map((server) => endProcess(server.identity, 'SIGQUIT', 2_000)));
  remove(folder);
  process.exit(code);
}

// Ctrl-C reaches the whole process group. Ignore it: the tests still use the servers until they close the pipe.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => void stop(0));
process.on('SIGHUP', () => void stop(0));

try {
  writeRecord();
  await removeLeftovers();
  const startPostgresOn = (port: number) => startPostgres({ folder: folderOf('postgres'), port, throwaway });
  const startRedisOn = (number: number, port: number) =>
    startRedis({ folder: folderOf(`redis-${number}`), port, throwaway, hasPassword: false, say });
  const starting = register(startOnFreePort(undefined, startPostgresOn));
  const redis: LocalServer[] = [];
  for (let number = 1; number <= Number(process.argv[2] ?? 1); number += 1)
    redis.push(await register(startOnFreePort(undefined, (port) => startRedisOn(number, port))));
  let postgres = await starting;
  const pids = { postgres: postgres.identity.pid, redis: redis.map(({ identity }) => identity.pid) };
  process.stdout.write(`${JSON.stringify({ database: postgres.url, redis: redis.map(({ url }) => url), pids })}\n`);
  let standby: LocalServer | undefined;
  const startStandbyOf = (primaryUrl: string) => {
    const options = { folder: folderOf('standby'), primaryFolder: folderOf('postgres'), primaryUrl, throwaway };
    return register(startOnFreePort(undefined, (port) => startStandby({ ...options, port })));
  };
  const commands: { readonly [line: string]: (argument: string) => Promise<unknown> } = {
    'kill postgres': () => kill(postgres),
    'start postgres': async () => (postgres = await startAgain(() => startPostgresOn(postgres.port))),
    'start standby': async (primaryUrl) => (standby = await startStandbyOf(primaryUrl)).url,
    'kill standby': async () => standby && kill(standby),
    'kill redis': () => kill(redis[0]!),
    'start redis': async () => (redis[0] = await startAgain(() => startRedisOn(1, redis[0]!.port))),
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const [verb, server, argument = ''] = line.split(' ');
    const answer = await commands[`${verb} ${server}`]?.(argument);
    process.stdout.write(`${typeof answer === 'string' ? answer : 'done'}\n`);
  }
  await stop(0);
} catch (error) {
  say(explain(error));
  await stop(1);
}

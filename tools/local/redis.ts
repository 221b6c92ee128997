import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { type LocalServer, spawnServer, waitUntilReady } from './local-server.ts';
import { readJson } from './optional-file.ts';
import { readOrMakePassword } from './password.ts';
import { endProcess, isRunning, type ProcessIdentity } from './processes.ts';
import { redisBinaries, redisEnvironment } from './redis-binaries.ts';

/** Where and how to start a Redis server. */
export interface RedisOptions {
  /** The folder for the append-only file, the password and the log. */
  folder: string;
  port: number;
  /** True for tests: the data is only in memory. */
  throwaway?: boolean;
  /** False for tests and benchmarks, whose data is worth nothing. */
  hasPassword?: boolean;
  say?: (line: string) => void;
}

/**
 * Settings of the append-only file, which Redis fsyncs every second and rewrites only from 256 MB on (the default is 64 MB). At
 * peak load 64 MB are written within seconds, and a rewrite during the peak makes joins a twelfth slower. A start with a file of
 * 256 MB takes seconds.
 */
const PERSISTENCE_SETTINGS = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--auto-aof-rewrite-min-size', '256mb'];

/**
 * If no value of a hash is longer than this, Redis stores the hash in one piece of memory, which takes less. With the default of 64
 * bytes the stored answer to a changed profile takes 448 bytes instead of 280. (The old name of the setting, because Redis 6 knows no other.)
 */
const SMALL_HASH_SETTINGS = ['--hash-max-ziplist-value', '512'];

/**
 * Starts a Redis that writes its data to an append-only file (a power cut loses at most the last second). It never evicts keys,
 * because it contains queues. It refuses everybody without the password, which is in a file, because every user of this machine can
 * read the arguments of a process. A folder without a password, made by an earlier version, gets one and keeps its data.
 */
export async function startRedis(options: RedisOptions): Promise<LocalServer> {
  const { folder, port, throwaway = false, hasPassword = true, say = () => undefined } = options;
  const binaries = redisBinaries(say);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ownerFile = path.join(folder, 'redis.owner.json');
  await endOrphan(ownerFile, say);

  const password = hasPassword ? readOrMakePassword(folder) : undefined;
  const settings = [
    ...(password ? [passwordSettings(folder, password)] : []),
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--daemonize',
    'no',
  ];
  settings.push('--maxmemory-policy', 'noeviction', '--save', '', ...SMALL_HASH_SETTINGS);
  settings.push(...(throwaway ? ['--appendonly', 'no'] : PERSISTENCE_SETTINGS));
  const spawnOptions = { cwd: folder, env: redisEnvironment(binaries) };
  // On SIGTERM Redis writes the append-only file to the disk before it exits.
  const server = await spawnServer(binaries.server, settings, path.join(folder, 'redis.log'), spawnOptions, [
    'SIGTERM',
    'SIGKILL',
  ]);
  writeFileSync(ownerFile, JSON.stringify(server.identity));
  await waitUntilReady(server, 'Redis', () => answersPing(port, password));
  return {
    ...server,
    url: `redis://${password ? `:${password}@` : ''}127.0.0.1:${port}`,
    port,
    stop: async () => {
      await server.stop();
      rmSync(ownerFile, { force: true });
    },
  };
}

/** Ends a Redis that an earlier run left running, because two servers would corrupt the append-only file. */
async function endOrphan(ownerFile: string, say: (line: string) => void): Promise<void> {
  const owner = readJson<ProcessIdentity>(ownerFile);
  if (!owner || !isRunning(owner)) return;
  say(`ending the Redis of an earlier run (pid ${owner.pid})`);
  await endProcess(owner, 'SIGTERM', 20_000);
}

/** Writes the configuration file with the password, and returns its path. */
function passwordSettings(folder: string, password: string): string {
  const file = path.join(folder, 'redis.conf');
  writeFileSync(file, `requirepass ${password}\n`, { mode: 0o600 });
  return file;
}

/** True if Redis answers PING. False while Redis is not up or still reads its append-only file (then the answer is -LOADING). */
function answersPing(port: number, password?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const answer = (ready: boolean) => {
      socket.destroy();
      resolve(ready);
    };
    socket.setTimeout(1_000, () => answer(false));
    socket.once('error', () => answer(false));
    socket.once('connect', () => socket.write(`${password ? `AUTH ${password}\r\n` : ''}PING\r\n`));
    let text = '';
    socket.on('data', (data) => {
      text += data.toString();
      if (/^(\+PONG|-.*)\r\n/m.test(text)) answer(text.endsWith('+PONG\r\n'));
    });
    socket.once('close', () => resolve(false));
  });
}

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { type LocalServer, spawnServer, stopServer, waitUntilReady } from './local-server.ts';
import { endProcess, isRunning, type ProcessIdentity } from './processes.ts';
import { redisBinaries, redisEnvironment } from './redis-binaries.ts';

export interface RedisOptions {
  /** Where the append-only file and the log live. */
  folder: string;
  port: number;
  /** For tests: memory only. */
  throwaway?: boolean;
  say?: (line: string) => void;
}

/** A rush writes 64 MB in seconds, and a rewrite of the file in the midst of it costs joins a twelfth of their speed; to read 256 MB takes seconds. */
const KEPT = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--auto-aof-rewrite-min-size', '256mb'];

/** A Redis that keeps what it is told (append-only file, at most the last second lost in a power cut) and never evicts: queues live in it. */
export async function startRedis(options: RedisOptions): Promise<LocalServer> {
  const { folder, port, throwaway = false, say = () => undefined } = options;
  const binaries = redisBinaries(say);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await endOrphan(folder, say);

  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--daemonize', 'no'];
  settings.push('--maxmemory-policy', 'noeviction', '--save', '');
  settings.push(...(throwaway ? ['--appendonly', 'no'] : KEPT));
  const server = await spawnServer(binaries.server, settings, path.join(folder, 'redis.log'), {
    cwd: folder,
    env: redisEnvironment(binaries),
  });
  writeFileSync(ownerFile(folder), JSON.stringify(server.identity));
  await waitUntilReady(server, 'Redis', () => answersPing(port));
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    identity: server.identity,
    ended: server.ended,
    // SIGTERM writes the append-only file to the disk before it ends.
    stop: async () => {
      await stopServer(server, 'SIGTERM', 'SIGKILL', 20_000);
      rmSync(ownerFile(folder), { force: true });
    },
  };
}

/** Two servers on one append-only file would ruin it. */
async function endOrphan(folder: string, say: (line: string) => void): Promise<void> {
  const owner = readOwner(folder);
  if (!owner || !isRunning(owner)) return;
  say(`ending the Redis left over from before (pid ${owner.pid})`);
  await endProcess(owner, 'SIGTERM', 20_000);
}

function readOwner(folder: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(ownerFile(folder), 'utf8')) as ProcessIdentity;
  } catch {
    return undefined;
  }
}

function ownerFile(folder: string): string {
  return path.join(folder, 'redis.owner.json');
}

/** False while it is not up or still reads its file back (it answers -LOADING then). */
function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const answer = (ready: boolean) => {
      socket.destroy();
      resolve(ready);
    };
    socket.setTimeout(1_000, () => answer(false));
    socket.once('error', () => answer(false));
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (data) => answer(data.toString().startsWith('+PONG')));
    socket.once('close', () => resolve(false));
  });
}

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startOnFreePort } from '../../tools/local/free-port.ts';
import { redisBinaries, redisEnvironment } from '../../tools/local/redis-binaries.ts';

/** A Redis server that a test may kill. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** A connection to this server, not to a cluster or proxy. */
  readonly client: Redis;
  /** Kills the server with `kill -9`, like a power failure. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** A shell that kills the server when its stdin closes, so that the server stops even if this process is killed. */
const KILL_WITH_PARENT = '"$@" & pid=$!; read -r _; kill -9 $pid; wait $pid';

/** Starts a Redis server for one test. It keeps its data only in memory and listens on a free port. */
export function startRedisServer(settings: readonly string[] = []): Promise<RedisServer> {
  return startOnFreePort(undefined, (port) => startOn(port, settings));
}

async function startOn(port: number, settings: readonly string[]): Promise<RedisServer> {
  const binaries = redisBinaries();
  const folder = mkdtempSync(path.join(tmpdir(), 'tribina-faults-'));
  const common = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  const shell = spawn('sh', ['-c', KILL_WITH_PARENT, 'sh', binaries.server, ...common, ...settings], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: redisEnvironment(binaries),
  });
  const exited = new Promise<void>((resolve) => shell.once('exit', () => resolve()));
  const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 50, maxRetriesPerRequest: null, disconnectTimeout: 100 });
  client.on('error', () => undefined);
  await client.ping();
  let killed: Promise<void> | undefined;
  const kill = () => (killed ??= end());
  const end = async () => {
    await client.quit().catch(() => undefined);
    shell.stdin.end('\n');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: `redis://127.0.0.1:${port}`, port, client, kill, stop: kill };
}

/** The smallest possible cluster: three masters with one replica each. servers[n + 3] is the replica of servers[n]. */
export async function startRedisCluster(): Promise<{ servers: RedisServer[]; stop(): Promise<void> }> {
  const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000', '--repl-diskless-sync-delay', '0'];
  const servers = await Promise.all(
    Array.from({ length: 6 }, () => startRedisServer([...settings, '--cluster-config-file', 'nodes.conf'])),
  );
  const masters = servers.slice(0, 3);
  const bounds = [0, 5461, 10_923, 16_384];
  await Promise.all(
    masters.map(({ client }, at) => client.call('CLUSTER', 'ADDSLOTSRANGE', String(bounds[at]), String(bounds[at + 1]! - 1))),
  );
  for (const { port } of servers.slice(1)) await servers[0]!.client.cluster('MEET', '127.0.0.1', port);
  const ids = await Promise.all(masters.map(({ client }) => client.cluster('MYID') as Promise<string>));
  for (const [at, { client }] of servers.slice(3).entries()) {
    // CLUSTER REPLICATE fails before the replica knows its master.
    await waitUntil(async () => String(await client.cluster('NODES')).includes(ids[at]!));
    await client.cluster('REPLICATE', ids[at]!);
  }
  await Promise.all(
    servers.map(({ client }) => waitUntil(async () => String(await client.cluster('INFO')).includes('cluster_state:ok'))),
  );
  await Promise.all(
    servers
      .slice(3)
      .map(({ client }) => waitUntil(async () => (await client.info('replication')).includes('master_link_status:up'))),
  );
  return { servers, stop: async () => void (await Promise.all(servers.map((server) => server.stop()))) };
}

/** Waits until the condition is true. Throws after the timeout. */
export async function waitUntil(isTrue: () => Promise<boolean>, withinMs = 15_000): Promise<void> {
  const giveUpAt = Date.now() + withinMs;
  while (!(await isTrue())) {
    if (Date.now() > giveUpAt) throw new Error('The condition was not met in time.');
    await sleep(50);
  }
}

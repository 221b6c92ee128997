import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { onFreePort } from '../../tools/local/free-port.ts';
import { redisBinaries, redisEnvironment } from '../../tools/local/redis-binaries.ts';

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** For orders to this very server. */
  readonly client: Redis;
  /** As a power cut: nothing is said or written any more. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** A shell stands between us and the server: however we die, its stdin closes and the server goes with it. */
const KEEPER = '"$@" & pid=$!; read -r _; kill -9 $pid; wait $pid';

/** A Redis of a test's own, in memory, on a free port. */
export function startRedisServer(settings: readonly string[] = []): Promise<RedisServer> {
  return onFreePort(undefined, (port) => startOn(port, settings));
}

async function startOn(port: number, settings: readonly string[]): Promise<RedisServer> {
  const binaries = redisBinaries();
  const folder = mkdtempSync(path.join(tmpdir(), 'tribina-faults-'));
  const common = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  const keeper = spawn('sh', ['-c', KEEPER, 'sh', binaries.server, ...common, ...settings], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: redisEnvironment(binaries),
  });
  const gone = new Promise<void>((resolve) => keeper.once('exit', () => resolve()));
  const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 50, maxRetriesPerRequest: null, disconnectTimeout: 100 });
  client.on('error', () => undefined);
  await client.ping();
  let killed: Promise<void> | undefined;
  const kill = () => (killed ??= end());
  const end = async () => {
    await client.quit().catch(() => undefined);
    keeper.stdin.end('\n');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: `redis://127.0.0.1:${port}`, port, client, kill, stop: kill };
}

/** Three masters with a replica each, as small as a cluster can be; the first replica follows the first master, and so on. */
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
    // A replica must have heard of its master first.
    await until(async () => String(await client.cluster('NODES')).includes(ids[at]!));
    await client.cluster('REPLICATE', ids[at]!);
  }
  await Promise.all(
    servers.map(({ client }) => until(async () => String(await client.cluster('INFO')).includes('cluster_state:ok'))),
  );
  await Promise.all(
    servers.slice(3).map(({ client }) => until(async () => (await client.info('replication')).includes('master_link_status:up'))),
  );
  return { servers, stop: async () => void (await Promise.all(servers.map((server) => server.stop()))) };
}

export async function until(isSo: () => Promise<boolean>, withinMs = 15_000): Promise<void> {
  const giveUpAt = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > giveUpAt) throw new Error('It did not come to that in time.');
    await sleep(50);
  }
}

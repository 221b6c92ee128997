import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { ClosedLoop } from '../instruments/closed-loop.ts';
import { compiled } from '../instruments/compiled.ts';
import { HttpConnection } from '../instruments/http-connection.ts';
import { redisBinaries, redisEnvironment } from '../../tools/local/redis-binaries.ts';
import { restoreEmpty } from './new-line.ts';

type Lines = InstanceType<
  typeof import('../../apps/queue-service/src/waiting-room/outbound/redis-waiting-lines.ts').RedisWaitingLines
>;

export interface Core {
  readonly lines: Lines;
  close(): Promise<void>;
}

const YARDSTICK = 'bench:zadd';
const SETTINGS = { purchaseWindowMs: 1_200_000, persistenceSeconds: 1800, presenceMs: 3_600_000 };

/** What stands behind the HTTP routes: the same objects as in the service, which also begins with the first line. */
export async function openCore(redisUrl: string, settings: { presenceMs?: number } = {}): Promise<Core> {
  await compiled<typeof import('../../libs/platform/src/short-lived-objects.ts')>('libs/platform/src/short-lived-objects');
  const { RedisWaitingLines } = await compiled<
    typeof import('../../apps/queue-service/src/waiting-room/outbound/redis-waiting-lines.ts')
  >('apps/queue-service/src/waiting-room/outbound/redis-waiting-lines');
  const { closeRedis, connectRedis, whenReady } = await compiled<
    typeof import('../../libs/platform/src/redis/redis-connection.ts')
  >('libs/platform/src/redis/redis-connection');
  const redis = connectRedis(redisUrl, { name: 'bench', commandTimeoutMs: 10_000 });
  await whenReady(redis);
  return { lines: new RedisWaitingLines(redis, { ...SETTINGS, ...settings }), close: () => closeRedis(redis) };
}

/** Its log is empty, too: Redis would rewrite it in the midst of every other measurement, which then is a tenth slower. */
export async function inEmptyRedis<T>(redisUrl: string, measure: () => Promise<T>): Promise<T> {
  const redis = new Redis(redisUrl);
  await redis.flushall();
  await whenLogIsAtRest(redis);
  await redis.bgrewriteaof();
  await whenLogIsAtRest(redis);
  await redis.quit();
  return measure();
}

async function whenLogIsAtRest(redis: Redis): Promise<void> {
  const atRest = /aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0/;
  while (!atRest.test(await redis.info('persistence'))) await sleep(10);
}

/** A sale is on: a hundred fans have their turns. So many more join the line through the core, a thousand of them waiting for their answers at any time. */
export async function joinsThroughCore({ lines }: Core, joins: number): Promise<number> {
  const matchId = randomUUID();
  await restoreEmpty(lines, matchId);
  await lines.change(matchId, { status: 'active', processingRate: 6000, maxOpenWindows: 100 });
  await Promise.all(Array.from({ length: 100 }, () => lines.join(matchId, randomUUID())));
  const { granted } = await lines.admit(matchId, 100);
  if (granted !== 100) throw new Error(`${granted} of 100 turns were granted`);
  let left = joins;
  const from = performance.now();
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      await lines.join(matchId, randomUUID());
    }
  };
  await Promise.all(Array.from({ length: 1000 }, caller));
  return joins / ((performance.now() - from) / 1000);
}

/** redis-benchmark, pipelines of 100 on 8 connections: ZADD of a new member each time, all but the whole of what Redis can do. */
export async function zaddsPerSecond(redisUrl: string, count: number): Promise<number> {
  const binaries = redisBinaries();
  const binary = path.join(path.dirname(binaries.server), 'redis-benchmark');
  const order = ['-p', new URL(redisUrl).port, '-n', String(count), '-P', '100', '-c', '8', '-r', '100000000', '--csv'];
  const child = spawn(binary, [...order, 'ZADD', YARDSTICK, '__rand_int__', 'fan-0000-0000-0000-__rand_int__'], {
    env: redisEnvironment(binaries),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()));
  await new Promise((resolve) => child.once('close', resolve));
  const [, rate] = /^"ZADD[^\n]*?","([\d.]+)"/m.exec(said) ?? [];
  if (!rate) throw new Error(`redis-benchmark said nothing we understand: ${said}`);
  return Number(rate);
}

/** Closed loop over keep-alive connections: every caller a new fan each time. */
export async function joinsOverHttp(url: string, matchId: string, { callers, seconds }: { callers: number; seconds: number }) {
  const connections = await Promise.all(Array.from({ length: callers }, () => HttpConnection.open(url)));
  const act = async (caller: number) => {
    const { status } = await connections[caller]!.post(
      `/api/v1/queue/${matchId}/join`,
      `x-mock-user-id: ${randomUUID()}\r\n`,
      '{}',
    );
    return status === 201 ? undefined : String(status);
  };
  await new ClosedLoop(act).run(callers, Math.max(1, seconds / 2));
  const result = await new ClosedLoop(act).run(callers, seconds);
  for (const connection of connections) connection.close();
  return { perSecond: result.inTime / result.seconds, refusals: result.refusals };
}

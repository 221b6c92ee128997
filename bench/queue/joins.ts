import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { ClosedLoop } from '../instruments/closed-loop.ts';
import { importCompiled } from '../instruments/compiled.ts';
import { HttpConnection } from '../instruments/http-connection.ts';
import { redisBinaries, redisEnvironment } from '../../tools/local/redis-binaries.ts';
import { restoreEmpty } from './new-line.ts';

type Lines = InstanceType<
  typeof import('../../apps/queue-service/src/waiting-room/outbound/redis-waiting-lines.ts').RedisWaitingLines
>;

/** The waiting lines of the queue service, opened in this process: the Redis adapter is called directly, without HTTP. */
export interface WaitingRoomLines {
  readonly lines: Lines;
  close(): Promise<void>;
}

const YARDSTICK = 'bench:zadd';
const SETTINGS = { purchaseWindowMs: 1_200_000, persistenceSeconds: 1800, presenceMs: 3_600_000 };
/** The development default of QUEUE_RECEIPT_SECRET, so that started queue services can read the tokens. */
const TOKEN_SECRETS = ['development-queue-receipt-secret-000'] as const;

/**
 * Creates the Redis adapter of the waiting room like the queue service does. So it imports short-lived-objects.ts first, which
 * switches off an optimisation of V8 (pretenuring) that would keep the objects of answered requests in memory for long.
 */
export async function openWaitingRoomLines(redisUrl: string, settings: { presenceMs?: number } = {}): Promise<WaitingRoomLines> {
  await importCompiled<typeof import('../../libs/platform/src/short-lived-objects.ts')>('libs/platform/src/short-lived-objects');
  const { RedisWaitingLines } = await importCompiled<
    typeof import('../../apps/queue-service/src/waiting-room/outbound/redis-waiting-lines.ts')
  >('apps/queue-service/src/waiting-room/outbound/redis-waiting-lines');
  const { closeRedis, connectRedis, whenReady } = await importCompiled<
    typeof import('../../libs/platform/src/redis/redis-connection.ts')
  >('libs/platform/src/redis/redis-connection');
  const redis = connectRedis(redisUrl, { name: 'bench', commandTimeoutMs: 10_000 });
  await whenReady(redis);
  return {
    lines: new RedisWaitingLines(redis, { ...SETTINGS, ...settings, tokenSecrets: TOKEN_SECRETS }),
    close: () => closeRedis(redis),
  };
}

/**
 * Empties Redis and its append-only file, then measures. Otherwise Redis would rewrite the file during half of the measurements, which
 * slows them by a tenth.
 */
export async function inEmptyRedis<T>(redisUrl: string, measure: () => Promise<T>): Promise<T> {
  const redis = new Redis(redisUrl);
  await redis.flushall();
  await waitForRewrite(redis);
  await redis.bgrewriteaof();
  await waitForRewrite(redis);
  await redis.quit();
  return measure();
}

async function waitForRewrite(redis: Redis): Promise<void> {
  const noRewrite = /aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0/;
  while (!noRewrite.test(await redis.info('persistence'))) await sleep(10);
}

/** Joins per second with direct calls of the Redis adapter, with 1,000 concurrent joins, while 100 fans already have turns. */
export async function joinsWithoutHttp({ lines }: WaitingRoomLines, joins: number): Promise<number> {
  const matchId = randomUUID();
  await restoreEmpty(lines, matchId);
  await lines.change(matchId, { status: 'active', processing_rate: 6000, max_open_windows: 100 });
  await Promise.all(Array.from({ length: 100 }, () => lines.join(matchId, randomUUID())));
  const { granted } = await lines.admit(matchId, 100);
  if (granted !== 100) throw new Error(`${granted} of 100 turns were granted`);
  let remaining = joins;
  const from = performance.now();
  const caller = async () => {
    while (remaining > 0) {
      remaining -= 1;
      await lines.join(matchId, randomUUID());
    }
  };
  await Promise.all(Array.from({ length: 1000 }, caller));
  return joins / ((performance.now() - from) / 1000);
}

/** ZADD commands per second by redis-benchmark: each adds a new member. Pipelines of 100 on 8 connections nearly saturate Redis. */
export async function zaddsPerSecond(redisUrl: string, count: number): Promise<number> {
  const binaries = redisBinaries();
  const binary = path.join(path.dirname(binaries.server), 'redis-benchmark');
  const options = ['-p', new URL(redisUrl).port, '-n', String(count), '-P', '100', '-c', '8', '-r', '100000000', '--csv'];
  const child = spawn(binary, [...options, 'ZADD', YARDSTICK, '__rand_int__', 'fan-0000-0000-0000-__rand_int__'], {
    env: redisEnvironment(binaries),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
  await new Promise((resolve) => child.once('close', resolve));
  const [, rate] = /^"ZADD[^\n]*?","([\d.]+)"/m.exec(output) ?? [];
  if (!rate) throw new Error(`unexpected output of redis-benchmark: ${output}`);
  return Number(rate);
}

/** Joins per second over HTTP. Each caller has a keep-alive connection and sends its next join, for a new fan, after each answer. */
export async function joinsOverHttp(url: string, matchId: string, { callers, seconds }: { callers: number; seconds: number }) {
  const connections = await Promise.all(Array.from({ length: callers }, () => HttpConnection.open(url)));
  const joinOnce = async (caller: number) => {
    const { status } = await connections[caller]!.post(
      `/api/v1/queue/${matchId}/join`,
      `x-mock-user-id: ${randomUUID()}\r\n`,
      '{}',
    );
    return status === 201 ? undefined : String(status);
  };
  await new ClosedLoop(joinOnce).run(callers, Math.max(1, seconds / 2));
  const result = await new ClosedLoop(joinOnce).run(callers, seconds);
  for (const connection of connections) connection.close();
  return { perSecond: result.doneInTime / result.seconds, refusals: result.refusals };
}

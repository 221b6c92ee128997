import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { createTestRedis } from '#testing/test-database';
import type { QueueChange } from '../application/ports.ts';
import { RedisWaitingLines } from '../outbound/redis-waiting-lines.ts';

export interface LineFixture {
  redis: Redis;
  lines: RedisWaitingLines;
  /** A further pod: its own connection and its own object over the same Redis. */
  pod(settings?: { purchaseWindowMs?: number; persistenceSeconds?: number; presenceMs?: number }): RedisWaitingLines;
  /** A new match with an open queue. */
  match(change?: QueueChange): Promise<string>;
  close(): Promise<void>;
}

/** Lines on the worker's real Redis. Every test takes a match of its own, so nothing is flushed in between. */
export async function lineFixture(): Promise<LineFixture> {
  const server = await createTestRedis();
  const connections: Redis[] = [];
  const connect = () => {
    const redis = new Redis(server.url, { autoResendUnfulfilledCommands: false });
    connections.push(redis);
    return redis;
  };
  const pod: LineFixture['pod'] = ({ purchaseWindowMs = 60_000, persistenceSeconds = 60, presenceMs = 60_000 } = {}) =>
    new RedisWaitingLines(connect(), { purchaseWindowMs, persistenceSeconds, presenceMs });
  const redis = connect();
  const lines = pod();
  return {
    redis,
    lines,
    pod,
    async match(change = {}) {
      const matchId = randomUUID();
      await lines.change(matchId, { status: 'active', ...change });
      return matchId;
    },
    async close() {
      await Promise.all(connections.map((connection) => connection.quit()));
      await server.close();
    },
  };
}

export const fans = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

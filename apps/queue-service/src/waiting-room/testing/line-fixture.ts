import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { createTestRedis } from '#testing/test-database';
import type { QueueChange, WaitingLines } from '../application/ports.ts';
import { RedisWaitingLines } from '../outbound/redis-waiting-lines.ts';

/** What tests of lines need: a Redis, pods that share it (several instances of the lines in the test process), and new matches. */
export interface LineFixture {
  redis: Redis;
  lines: RedisWaitingLines;
  /** A new pod: its own connection and its own RedisWaitingLines over the same Redis. */
  pod(settings?: { purchaseWindowMs?: number; persistenceSeconds?: number; presenceMs?: number }): RedisWaitingLines;
  /** A new match with an open queue. */
  match(change?: QueueChange): Promise<string>;
  /** A new match whose empty state Redis knows, but whose queue has no settings yet. */
  restoredMatch(): Promise<string>;
  /** A new match for which the monolith has reported that it has no waiting room. */
  matchWithoutQueue(): Promise<string>;
  close(): Promise<void>;
}

/** The secrets of queue tokens in tests. */
export const TOKEN_SECRETS: readonly [string] = ['s'.repeat(32)];

/** Creates a LineFixture on the Redis of this Jest worker. Each test uses its own match, so no data is flushed between tests. */
export async function lineFixture(): Promise<LineFixture> {
  const server = await createTestRedis();
  const connections: Redis[] = [];
  const connect = () => {
    const redis = new Redis(server.url, { autoResendUnfulfilledCommands: false });
    connections.push(redis);
    return redis;
  };
  const pod: LineFixture['pod'] = ({ purchaseWindowMs = 60_000, persistenceSeconds = 60, presenceMs = 60_000 } = {}) =>
    new RedisWaitingLines(connect(), { purchaseWindowMs, persistenceSeconds, presenceMs, tokenSecrets: TOKEN_SECRETS });
  const redis = connect();
  const lines = pod();
  const restoredMatch = async () => {
    const matchId = randomUUID();
    await restoreEmpty(lines, matchId);
    return matchId;
  };
  return {
    redis,
    lines,
    pod,
    async match(change = {}) {
      const matchId = await restoredMatch();
      await lines.change(matchId, { status: 'active', ...change });
      return matchId;
    },
    restoredMatch,
    async matchWithoutQueue() {
      const matchId = randomUUID();
      await lines.restore(matchId, { exists: false, generation: 0, part: 0, complete: true, windows: [], used: [] });
      return matchId;
    },
    async close() {
      await Promise.all(connections.map((connection) => connection.quit()));
      await server.close();
    },
  };
}

/** Stores the state of a new match, as the monolith sends it: no open windows and no used turns. */
export async function restoreEmpty(lines: WaitingLines, matchId: string, generation = 1): Promise<void> {
  await lines.restore(matchId, { exists: true, generation, part: 0, complete: true, windows: [], used: [] });
}

/** New random user ids, one for each fan. */
export const newFanIds = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

/** Waits for `ms` milliseconds of real time. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { randomInt } from 'node:crypto';
import { RoundRobinEventLoader } from '../core/round-robin-event-loader.ts';
import { FetcherByKind, type ConfiguredSource } from './fetcher-by-kind.ts';
import { PostgresEventStore, type LoaderPools } from './postgres-event-store.ts';
import { RecordedPolls, type SourceAlerts } from './recorded-polls.ts';
import { RedisLocks } from './redis-locks.ts';
import { RedisSourceRateLimiter } from './redis-source-rate-limiter.ts';
import { MonotonicTime } from './monotonic-time.ts';

interface LoaderConnections {
  readonly pools: LoaderPools;
  readonly redis: RedisConnection;
  readonly logger: Logger;
  readonly alerts?: SourceAlerts;
}

/** The loader with the parts that its caller needs too. */
export interface BuiltEventLoader {
  readonly loader: RoundRobinEventLoader<ConfiguredSource>;
  readonly polls: RecordedPolls;
  readonly locks: RedisLocks;
}

/**
 * Rotates the list of sources by a random number, so that each loader starts at another source. Loaders with the same order would
 * request the same locks at the same time, in every pass.
 */
function rotateRandomly<T>(all: readonly T[]): T[] {
  const first = randomInt(all.length);
  return [...all.slice(first), ...all.slice(0, first)];
}

/** Builds the loader of the command `loader:run`: locks and rate limiter in Redis, events in PostgreSQL. */
export function buildEventLoader(
  sources: readonly ConfiguredSource[],
  { pools, redis, logger, alerts }: LoaderConnections,
  stop: AbortSignal,
): BuiltEventLoader {
  const polls = new RecordedPolls(pools.reads, logger, alerts);
  const locks = new RedisLocks(redis);
  const loader = new RoundRobinEventLoader({
    sources: rotateRandomly(sources),
    fetcher: new FetcherByKind(stop),
    store: new PostgresEventStore(pools, {
      // The loader has no metrics: it is a command, not a service.
      onRetry: (sqlstate) => logger.warn({ sqlstate }, 'an append of events met contention and is retried'),
    }),
    locks,
    rateLimiter: new RedisSourceRateLimiter(redis),
    log: polls,
    time: new MonotonicTime(),
  });
  return { loader, polls, locks };
}

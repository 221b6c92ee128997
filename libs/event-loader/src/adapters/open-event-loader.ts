import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { randomInt } from 'node:crypto';
import { RoundRobinEventLoader } from '../core/round-robin-event-loader.ts';
import type { ConfiguredSource } from './configured-sources.ts';
import { FileEventFetcher } from './file-event-fetcher.ts';
import { HttpEventFetcher } from './http-event-fetcher.ts';
import { StripeEventFetcher } from './stripe-event-fetcher.ts';
import type { EventFetcher } from '../core/ports.ts';
import { PostgresEventStore, type LoaderPools } from './postgres-event-store.ts';
import { RecordedPolls, type SourceAlerts } from './recorded-polls.ts';
import { RedisLocks } from './redis-locks.ts';
import { RedisSourceRateLimiter } from './redis-source-rate-limiter.ts';
import { MonotonicTime } from './monotonic-time.ts';

/**
 * Rotates the list of sources by a random number, so that each loader starts at another source. Loaders with the same order would
 * request the same locks at the same time, in every pass.
 */
function rotateRandomly<T>(all: readonly T[]): T[] {
  const first = randomInt(all.length);
  return [...all.slice(first), ...all.slice(0, first)];
}

/**
 * Builds the loader of the command `loader:run`: locks and rate limiter in Redis, events in PostgreSQL. Returns it with the parts
 * that the command needs too.
 */
export function buildEventLoader(
  sources: readonly ConfiguredSource[],
  { pools, redis, logger, alerts }: { pools: LoaderPools; redis: RedisConnection; logger: Logger; alerts?: SourceAlerts },
  stop: AbortSignal,
): { loader: RoundRobinEventLoader<ConfiguredSource>; polls: RecordedPolls; locks: RedisLocks } {
  const polls = new RecordedPolls(pools.reads, logger, alerts);
  const locks = new RedisLocks(redis);
  const fetchers: Record<ConfiguredSource['kind'], EventFetcher<never>> = {
    http: new HttpEventFetcher(),
    file: new FileEventFetcher(),
    stripe: new StripeEventFetcher({ stop }),
  };
  const loader = new RoundRobinEventLoader({
    sources: rotateRandomly(sources),
    fetcher: { fetch: (source, ...request) => fetchers[source.kind].fetch(source as never, ...request) },
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

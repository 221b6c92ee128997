import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { randomInt } from 'node:crypto';
import { RoundRobinEventLoader } from '../core/round-robin-event-loader.ts';
import { FetcherByKind, type ConfiguredSource } from './fetcher-by-kind.ts';
import { PostgresEventStore, type LoaderPools } from './postgres-event-store.ts';
import { RecordedPolls, type SourceAlerts } from './recorded-polls.ts';
import { RedisLocks } from './redis-locks.ts';
import { RedisSourceRateLimiter } from './redis-source-rate-limiter.ts';
import { SteadyTime } from './steady-time.ts';

interface LoaderConnections {
  readonly pools: LoaderPools;
  readonly redis: RedisConnection;
  readonly logger: Logger;
  readonly tell?: SourceAlerts;
}

export interface OpenEventLoader {
  readonly loader: RoundRobinEventLoader<ConfiguredSource>;
  readonly turns: RecordedPolls;
  readonly locks: RedisLocks;
}

/** Loaders that begin at the same source meet at the same locks, again and again. */
function fromAnywhere<T>(all: readonly T[]): T[] {
  const first = randomInt(all.length);
  return [...all.slice(first), ...all.slice(0, first)];
}

/** The core with the adapters that `loader:run` uses: locks and gate in Redis, events in PostgreSQL. */
export function openEventLoader(
  sources: readonly ConfiguredSource[],
  { pools, redis, logger, tell }: LoaderConnections,
  stop: AbortSignal,
): OpenEventLoader {
  const turns = new RecordedPolls(pools.look, logger, tell);
  const locks = new RedisLocks(redis);
  const loader = new RoundRobinEventLoader({
    sources: fromAnywhere(sources),
    fetcher: new FetcherByKind(stop),
    store: new PostgresEventStore(pools),
    locks,
    gate: new RedisSourceRateLimiter(redis),
    log: turns,
    time: new SteadyTime(),
  });
  return { loader, turns, locks };
}

import '#platform/short-lived-objects';
import { createLogger, type Logger } from '#platform/logging/logger';
import { Metrics } from '#platform/health/metrics';
import { openDatabase } from '#platform/postgres/database';
import { ReplicaReads } from '#platform/postgres/replica-reads';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '#platform/redis/redis-connection';
import type { DataSource } from 'typeorm';
import { matchTable, sectorTable } from './catalog/catalog.tables.ts';
import type { MonolithConfig } from './config.ts';

/**
 * Connections and other objects that live as long as the process. Opened before Nest, so that hooks and modules share them;
 * closed after Nest.
 */
export interface Resources {
  readonly config: MonolithConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly dataSource: DataSource;
  readonly replicaReads: ReplicaReads;
  readonly redis: RedisConnection;
  /** Nest calls this once, when the app has stopped. */
  close(): Promise<void>;
}

/** Connects to PostgreSQL and Redis. Fails if PostgreSQL does not answer. */
export async function openResources(config: MonolithConfig, service: string, poolSize?: number): Promise<Resources> {
  const destination = service === 'cli' ? process.stderr : undefined;
  const logger = createLogger({ service, level: config.LOG_LEVEL, destination });
  const entities = [matchTable, sectorTable];
  const dataSource = await openDatabase({
    url: config.DATABASE_URL,
    name: service,
    entities,
    logger,
    poolSize,
  });
  const redis = connectRedis(config.REDIS_URL, { name: service, sharedWrites: 'all but scripts' });
  // We wait for Redis for a limited time, then start without it: everything except the waiting room works without Redis.
  if (!(await whenReady(redis))) logger.warn('starting without Redis');
  const metrics = new Metrics();
  const replicaReads = new ReplicaReads({
    ...{ primary: dataSource, url: config.DATABASE_REPLICA_URL, name: service },
    ...{ entities, logger, registry: metrics.registry },
  });
  return {
    config,
    logger,
    metrics,
    dataSource,
    replicaReads,
    redis,
    close: async () => {
      await closeRedis(redis).catch(() => undefined);
      await replicaReads.close();
      await dataSource.destroy();
    },
  };
}

import '#platform/short-lived-objects';
import { createLogger, type Logger } from '#platform/logging/logger';
import { Metrics } from '#platform/health/metrics';
import { openDatabase } from '#platform/postgres/database';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '#platform/redis/redis-connection';
import type { DataSource } from 'typeorm';
import { matchTable, sectorTable } from './catalog/outbound/catalog.tables.ts';
import type { MonolithConfig } from './config.ts';

/** What the process holds open: made before Nest, so that hooks and modules share it, and closed after it. */
export interface Resources {
  readonly config: MonolithConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly dataSource: DataSource;
  readonly redis: RedisConnection;
  close(): Promise<void>;
}

export async function openResources(config: MonolithConfig, service: string, poolSize?: number): Promise<Resources> {
  const destination = service === 'cli' ? process.stderr : undefined;
  const logger = createLogger({ service, level: config.LOG_LEVEL, destination });
  const dataSource = await openDatabase({
    url: config.DATABASE_URL,
    name: service,
    entities: [matchTable, sectorTable],
    logger,
    poolSize,
  });
  const redis = connectRedis(config.REDIS_URL, { name: service, sharedWrites: 'all but scripts' });
  // Redis is worth a moment's wait, not a refusal to start: everything but the waiting room works without it.
  if (!(await whenReady(redis))) logger.warn('starting without Redis');
  return {
    config,
    logger,
    metrics: new Metrics(),
    dataSource,
    redis,
    close: async () => {
      await closeRedis(redis).catch(() => undefined);
      if (dataSource.isInitialized) await dataSource.destroy();
    },
  };
}

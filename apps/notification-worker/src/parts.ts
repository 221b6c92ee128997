import type { Metrics } from '#platform/health/metrics';
import type { Logger } from '#platform/logging/logger';
import type { Inbox } from '#platform/postgres/delivery-ledger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { DataSource } from 'typeorm';
import type { WorkerConfig } from './config.ts';

/** What the modules of this service are made of; opened by main, closed by AppModule. */
export interface WorkerParts {
  readonly config: WorkerConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly database: DataSource;
  readonly inbox: Inbox;
  /** Commands that answer or fail within two seconds. */
  readonly redis: RedisConnection;
  /** BullMQ's: waits for Redis as long as it is away. */
  readonly jobsRedis: RedisConnection;
}

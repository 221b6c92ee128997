import type { Metrics } from '#platform/health/metrics';
import type { Logger } from '#platform/logging/logger';
import type { TransactionManager } from '#application/transaction-manager';
import type { Inbox } from '#messaging/inbox/delivery-ledger';
import type { SingleStatements } from '#platform/postgres/single-statements';
import type { ProcessedMarks } from '#messaging/inbox/processed-marks';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { DataSource } from 'typeorm';
import type { Counter } from 'prom-client';
import type { WorkerConfig } from './config.ts';
import type { ServiceAccount } from './push/outbound/fcm-access.ts';
import type { AlertNotes } from '#messaging/sending/alert-notes';
import type { Alerts } from '#messaging/sending/alerts';

/** Connections and shared objects of the notification worker. They are opened at the start and closed by AppModule. */
export interface WorkerParts {
  readonly config: WorkerConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly database: DataSource;
  readonly inbox: Inbox;
  readonly transactions: TransactionManager;
  readonly statements: SingleStatements;
  readonly marks: ProcessedMarks;
  readonly possibleDuplicates: Counter<'consumer'>;
  readonly alerts: Alerts;
  readonly alertNotes: AlertNotes;
  /** Undefined unless this worker sends pushes with PUSH_PROVIDER=fcm. */
  readonly serviceAccount: ServiceAccount | undefined;
  /** The Redis connection for commands that must answer or fail within two seconds. */
  readonly redis: RedisConnection;
  /** The Redis connection of BullMQ, whose commands wait while Redis is down. */
  readonly jobsRedis: RedisConnection;
}

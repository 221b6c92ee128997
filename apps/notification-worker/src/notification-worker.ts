import { alertChannels, publicUrls } from '#platform/config/settings';
import { Metrics } from '#platform/health/metrics';
import { ConsumerHeartbeats } from '#messaging/jobs/consumer-heartbeats';
import { allowedOrigins } from '#platform/http/cors';
import { createHttpApp } from '#platform/http/http-app';
import { apiDocsPrefixes, describeApi, serveApiDocs } from '#platform/http/openapi';
import { limitByAddress } from '#platform/limits/limit-hooks';
import { RateLimiter } from '#platform/limits/rate-limiter';
import type { Logger } from '#platform/logging/logger';
import { PostgresJobs } from '#messaging/jobs/job-ledger';
import { PostgresOutbox } from '#messaging/outbox/postgres-outbox';
import { openDatabase } from '#platform/postgres/database';
import { Inbox } from '#messaging/inbox/delivery-ledger';
import { SingleStatements } from '#platform/postgres/single-statements';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { ProcessedMarks } from '#messaging/inbox/processed-marks';
import { connectRedis, whenReady } from '#platform/redis/redis-connection';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { Counter } from 'prom-client';
import { AppModule, sendersOf, type QueueProcessor } from './app.module.ts';
import type { WorkerConfig } from './config.ts';
import type { WorkerParts } from './parts.ts';
import { readServiceAccount } from './push/outbound/fcm-access.ts';
import { AlertNotes } from '#messaging/sending/alert-notes';
import { Alerts } from '#messaging/sending/alerts';
import { TimeOrderedIds } from '#platform/system-clock';

const SERVICE = 'notification-worker';
const DESCRIPTION =
  'The mailbox that stands in for the providers of mails and pushes. Errors are application/problem+json with a stable code.';
/** The deadline of transactions outside a job. In a job the deadline is the end of the job's lock. */
const TRANSACTION_DEADLINE_MS = 10_000;

async function openParts(config: WorkerConfig, logger: Logger): Promise<WorkerParts> {
  // The service account is read before connections are opened, so that a missing or invalid file ends the start at once.
  const needsServiceAccount = config.PUSH_PROVIDER === 'fcm' && config.WORKER_QUEUES !== 'email';
  const serviceAccount = needsServiceAccount ? await readServiceAccount(config.FCM_SERVICE_ACCOUNT ?? '') : undefined;
  const database = await openDatabase({ url: config.DATABASE_URL, name: SERVICE, logger });
  const redis = connectRedis(config.REDIS_URL, { name: SERVICE, sharedWrites: 'all' });
  const jobsRedis = connectRedis(config.REDIS_URL, { name: `${SERVICE}-jobs`, forJobs: true });
  await whenReady(redis);
  const metrics = new Metrics();
  const retries = new Counter({
    name: 'transaction_retries_total',
    help: 'Transaction attempts that failed and were run again, by SQLSTATE.',
    labelNames: ['sqlstate'],
    registers: [metrics.registry],
  });
  const transactions = new PostgresTransactionManager(database, { deadlineMs: TRANSACTION_DEADLINE_MS, retries });
  const marks = new ProcessedMarks(redis);
  const possibleDuplicates = new Counter({
    name: 'notification_possible_duplicates_total',
    help: 'Messages sent again after a first send with an unknown outcome, so that they may have arrived twice.',
    labelNames: ['consumer'] as const,
    registers: [metrics.registry],
  });
  for (const consumer of ['email', 'push']) possibleDuplicates.inc({ consumer }, 0);
  // Alerts are sent as background jobs, which the monolith runs.
  const alertNotes = new AlertNotes(database, transactions, new PostgresJobs(new PostgresOutbox(), new TimeOrderedIds()));
  return {
    config,
    logger,
    metrics,
    database,
    redis,
    jobsRedis,
    inbox: new Inbox(transactions, marks),
    transactions,
    statements: new SingleStatements(config.DATABASE_URL, `${SERVICE}-ledger`, {
      onRetry: (sqlstate) => retries.inc({ sqlstate }),
    }),
    marks,
    possibleDuplicates,
    alertNotes,
    alerts: new Alerts(logger, { ways: alertChannels(config), webhookUrl: config.ALERT_WEBHOOK_URL, notes: alertNotes }),
    serviceAccount,
  };
}

/** The whole service before it listens on a port. */
export interface NotificationWorker {
  readonly app: NestFastifyApplication;
  /** Starts to take jobs from the queues. */
  start(): void;
}

/** Creates the whole service. It does not listen on a port and takes no jobs yet. */
export async function createNotificationWorker(config: WorkerConfig, logger: Logger): Promise<NotificationWorker> {
  const parts = await openParts(config, logger);
  // No route of the notification worker is for signed-in callers or for our other services. A random secret makes internal calls
  // impossible.
  const internalSecret = randomUUID();
  const addressLimit = new RateLimiter(parts.redis, 'rate_limit:global:notification-worker', config.RATE_LIMIT_IP_PER_MINUTE);
  const app = await createHttpApp(AppModule.register(parts), {
    logger,
    identify: () => Promise.resolve(undefined),
    internalSecret,
    trustedProxies: config.TRUSTED_PROXIES,
    isAllowedOrigin: allowedOrigins({
      publicUrl: publicUrls(config).publicUrl,
      corsOrigins: config.CORS_ORIGINS,
      production: config.NODE_ENV === 'production',
    }),
    requestDeadlineMs: config.REQUEST_DEADLINE_MS,
    publicPrefixes: apiDocsPrefixes,
    limitAddress: limitByAddress(addressLimit, internalSecret),
  });
  parts.metrics.timeRequests(app.getHttpAdapter().getInstance() as unknown as FastifyInstance);
  await app.init();
  serveApiDocs(app, describeApi(app, { title: 'Tribina notifications', description: DESCRIPTION, withKeys: false }));
  const processors = [
    ...sendersOf(config).map(({ processor }) => app.get<QueueProcessor>(processor)),
    app.get(ConsumerHeartbeats),
  ];
  return { app, start: () => processors.forEach((processor) => processor.start()) };
}

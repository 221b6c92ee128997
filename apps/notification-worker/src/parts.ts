import type { JobQueue } from '#contracts/queue-jobs';
import { Inbox } from '#messaging/inbox/delivery-ledger';
import { ProcessedMarks } from '#messaging/inbox/processed-marks';
import { PostgresJobs } from '#messaging/jobs/job-ledger';
import { QueuedJobs } from '#messaging/jobs/queued-jobs';
import { UnsentJobs } from '#messaging/jobs/unsent-jobs';
import { PostgresOutbox } from '#messaging/outbox/postgres-outbox';
import { AlertNotes } from '#messaging/sending/alert-notes';
import { Alerts } from '#messaging/sending/alerts';
import { SharedProviderLimiter, UnlimitedProvider, type ProviderLimiter } from '#messaging/sending/provider-limiter';
import { alertChannels } from '#platform/config/alert-channels';
import { Metrics } from '#platform/health/metrics';
import type { Logger } from '#platform/logging/logger';
import { openDatabase } from '#platform/postgres/database';
import { SingleStatements } from '#platform/postgres/single-statements';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { connectRedis, whenReady } from '#platform/redis/redis-connection';
import { TimeOrderedIds } from '#platform/system-clock';
import { Counter } from 'prom-client';
import type { WorkerConfig } from './config.ts';
import { PostgresMailbox } from './mailbox/postgres-mailbox.ts';
import { readServiceAccount } from './push/outbound/fcm-access.ts';
import type { ProcessorOptions } from '#messaging/sending/queue-processor';
import { SendingMetrics } from '#messaging/sending/sending-metrics';

const SERVICE = 'notification-worker';
/** The deadline of transactions outside a job. In a job the deadline is the end of the job's lock. */
const TRANSACTION_DEADLINE_MS = 10_000;

/** Injection token of the WorkerParts. */
export const PARTS = Symbol('parts');

/** Connections and shared objects of the notification worker. They are opened at the start and closed by AppModule. */
export type WorkerParts = Awaited<ReturnType<typeof openParts>>;

/** Opens the connections of the worker. */
export async function openParts(config: WorkerConfig, logger: Logger) {
  // The service account is read before connections are opened, so that a missing or invalid file ends the start at once.
  const needsServiceAccount = config.PUSH_PROVIDER === 'fcm' && config.WORKER_QUEUES !== 'email';
  const serviceAccount = needsServiceAccount ? await readServiceAccount(config.FCM_SERVICE_ACCOUNT ?? '') : undefined;
  const database = await openDatabase({ url: config.DATABASE_URL, name: SERVICE, logger });
  /** For commands that must answer or fail within two seconds. */
  const redis = connectRedis(config.REDIS_URL, { name: SERVICE, sharedWrites: 'all' });
  /** The connection of BullMQ, whose commands wait while Redis is down. */
  const jobsRedis = connectRedis(config.REDIS_URL, { name: `${SERVICE}-jobs`, forJobs: true });
  await whenReady(redis);
  const metrics = new Metrics();
  const { registry } = metrics;
  const retries = new Counter({
    name: 'transaction_retries_total',
    help: 'Transaction attempts that failed and were run again, by SQLSTATE.',
    labelNames: ['sqlstate'],
    registers: [registry],
  });
  const transactions = new PostgresTransactionManager(database, { deadlineMs: TRANSACTION_DEADLINE_MS, retries });
  const marks = new ProcessedMarks(redis);
  const possibleDuplicates = new Counter({
    name: 'notification_possible_duplicates_total',
    help: 'Messages sent again after a first send with an unknown outcome, so that they may have arrived twice.',
    labelNames: ['consumer'] as const,
    registers: [registry],
  });
  for (const consumer of ['email', 'push']) possibleDuplicates.inc({ consumer }, 0);
  // Alerts are sent as background jobs, which the monolith runs.
  const alertNotes = new AlertNotes(database, transactions, new PostgresJobs(new PostgresOutbox(), new TimeOrderedIds()));
  const alerts = new Alerts(logger, { ways: alertChannels(config), webhookUrl: config.ALERT_WEBHOOK_URL, notes: alertNotes });
  const limiterOf = (provider: string, callsPerSecond: number, isEven: boolean): ProviderLimiter =>
    provider === 'none'
      ? new UnlimitedProvider()
      : new SharedProviderLimiter(redis, {
          provider,
          callsPerSecond,
          isEven,
          onBreaker: (name, state) => alerts.raise(breakerAlert(name, state)),
        });
  return {
    config,
    logger,
    metrics,
    database,
    redis,
    jobsRedis,
    transactions,
    inbox: new Inbox(transactions, marks),
    mailbox: new PostgresMailbox(database),
    statements: new SingleStatements(config.DATABASE_URL, `${SERVICE}-ledger`, {
      onRetry: (sqlstate) => retries.inc({ sqlstate }),
    }),
    marks,
    possibleDuplicates,
    alertNotes,
    alerts,
    jobs: new QueuedJobs(database, redis, logger),
    limiters: {
      // Mails are spread over the second, because a hundred at once would take a processor from the sale. Pushes are not: "your turn"
      // must not wait.
      email: limiterOf(config.EMAIL_PROVIDER, config.EMAIL_RATE_PER_SECOND, true),
      push: limiterOf(config.PUSH_PROVIDER, config.PUSH_CALLS_PER_SECOND, false),
    },
    /** Undefined unless this worker sends pushes with PUSH_PROVIDER=fcm. */
    serviceAccount,
  };
}

const breakerAlert = (provider: string, state: 'opened' | 'closed'): Parameters<Alerts['raise']>[0] => ({
  about: `breaker ${provider} ${state}`,
  text:
    state === 'opened'
      ? `${provider} failed 20 times in a row; its queue is paused, one call is tried every 5 s, no message is lost`
      : `${provider} answers again; its queue continues`,
});

/** What the processor of mails or pushes needs. */
export function processorOptions(
  { config, jobsRedis, logger, alerts, jobs, metrics }: WorkerParts,
  channel: 'email' | 'push',
  queues: readonly JobQueue[],
): ProcessorOptions {
  return {
    connection: jobsRedis,
    retrySeconds: config.NOTIFICATION_RETRY_SECONDS,
    logger,
    alerts,
    jobs,
    metrics: new SendingMetrics(metrics.registry, channel, new UnsentJobs(jobs, queues)),
  };
}

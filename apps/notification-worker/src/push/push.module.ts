import { JOBS_PREFIX } from '#contracts/queue-jobs';
import { OldestUnsent } from '#messaging/jobs/oldest-unsent';
import { QueueSizes } from '#messaging/jobs/queue-sizes';
import { PostgresOutbox } from '#messaging/outbox/postgres-outbox';
import { SystemClock } from '#platform/system-clock';
import { Module, type DynamicModule } from '@nestjs/common';
import { Mailbox } from '../mailbox/mailbox.api.ts';
import type { WorkerParts } from '../parts.ts';
import { CLAIM_LOCK_MS } from '#messaging/sending/call-timeout';
import { QueuedJobs } from '#messaging/jobs/queued-jobs';
import { ProviderLimiters } from '../sending/sending.module.ts';
import type { Pushes } from './application/ports.ts';
import { SendPush } from './application/send-push.ts';
import { registerBroadcastMetrics } from './inbound/broadcast-metrics.ts';
import { PushMetrics } from './inbound/push-metrics.ts';
import { PushProcessor } from './inbound/push.processor.ts';
import { Fcm } from './outbound/fcm.ts';
import { MailboxPushes } from './outbound/mailbox-pushes.ts';
import { PostgresBroadcasts } from './outbound/postgres-broadcasts.ts';
import { ProviderPushes } from './outbound/provider-pushes.ts';
import { PushLedger } from './outbound/push-ledger.ts';

/**
 * How many pushes of each queue are processed at the same time. Each push uses one of the 24 database connections of the pool
 * while its job is claimed or its progress is recorded.
 */
const PUSH_CONCURRENCY = { 'push-priority': 10, push: 6 };

/** Everything that processes the queues `push` and `push-priority`, from the job to the provider. */
@Module({})
export class PushModule {
  static register(parts: WorkerParts): DynamicModule {
    const { config, logger, metrics, redis, jobsRedis, alerts, database } = parts;
    const broadcasts = new PostgresBroadcasts(database);
    registerBroadcastMetrics(metrics.registry, broadcasts);
    const consumer = {
      connection: jobsRedis,
      retrySeconds: config.NOTIFICATION_RETRY_SECONDS,
      logger,
      alerts,
      broadcasts,
      concurrency: config.PUSH_PROVIDER === 'mailbox' ? { 'push-priority': 4, push: 4 } : PUSH_CONCURRENCY,
    };
    return {
      module: PushModule,
      providers: [
        {
          provide: QueueSizes,
          inject: [QueuedJobs],
          useFactory: (jobs: QueuedJobs) =>
            new QueueSizes(redis, JOBS_PREFIX, ['push', 'push-priority'], () => jobs.inBundles(['push', 'push-priority'])),
        },
        { provide: OldestUnsent, useFactory: () => new OldestUnsent(redis, JOBS_PREFIX, ['push', 'push-priority']) },
        {
          provide: PushProcessor,
          inject: [Mailbox, ProviderLimiters, QueuedJobs, QueueSizes, OldestUnsent],
          useFactory: (mailbox: Mailbox, limiters: ProviderLimiters, jobs: QueuedJobs, sizes: QueueSizes, oldest: OldestUnsent) =>
            new PushProcessor(
              new SendPush(pushesOf(parts, mailbox, limiters), new SystemClock()),
              new PushMetrics(metrics.registry, sizes, oldest),
              { ...consumer, jobs },
            ),
        },
      ],
      exports: [PushProcessor],
    };
  }
}

function pushesOf(parts: WorkerParts, mailbox: Mailbox, limiters: ProviderLimiters): Pushes {
  const { config, inbox, statements, transactions, marks, possibleDuplicates, serviceAccount: account } = parts;
  if (config.PUSH_PROVIDER === 'mailbox' || !account) return new MailboxPushes(inbox, mailbox);
  const ledger = new PushLedger(statements, transactions, new PostgresOutbox(), {
    lockMs: CLAIM_LOCK_MS,
    marks,
    possibleDuplicates,
  });
  return new ProviderPushes(new Fcm({ base: config.FCM_API_BASE, account }), ledger, limiters.push);
}

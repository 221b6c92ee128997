import { Clock } from '#application/clock';
import { JOBS_PREFIX } from '#contracts/queue-jobs';
import { OldestUnsent } from '#platform/jobs/oldest-unsent';
import { QueueSizes } from '#platform/jobs/queue-sizes';
import { PostgresOutbox } from '#platform/outbox/postgres-outbox';
import { SystemClock } from '#platform/system-clock';
import { useCase } from '#platform/use-case';
import { Module, type DynamicModule } from '@nestjs/common';
import { Mailbox } from '../mailbox/mailbox.api.ts';
import type { WorkerParts } from '../parts.ts';
import { CLAIM_LOCK_MS } from '#platform/sending/call-timeout';
import { QueuedJobs } from '#platform/jobs/queued-jobs';
import { ProviderLimiters } from '../sending/sending.module.ts';
import { Pushes } from './application/ports.ts';
import { SendPush } from './application/send-push.ts';
import { watchBroadcasts } from './inbound/broadcast-metrics.ts';
import { PushMetrics } from './inbound/push-metrics.ts';
import { PushProcessor } from './inbound/push.processor.ts';
import { Fcm } from './outbound/fcm.ts';
import { MailboxPushes } from './outbound/mailbox-pushes.ts';
import { PostgresBroadcasts } from './outbound/postgres-broadcasts.ts';
import { ProvidedPushes } from './outbound/provided-pushes.ts';
import { PushLedger } from './outbound/push-ledger.ts';

/** Hands by lane. Each holds one of the pool's 24 connections for the moment it claims or notes. */
const PUSHES_AT_ONCE = { 'push-priority': 10, push: 6 };

/** The queues `push` and `push-priority`, from the job to the provider. */
@Module({})
export class PushModule {
  static register(parts: WorkerParts): DynamicModule {
    const { config, logger, metrics, redis, jobsRedis, alerts, database } = parts;
    const devices = new PostgresBroadcasts(database);
    watchBroadcasts(metrics.registry, devices);
    const consumer = {
      connection: jobsRedis,
      retrySeconds: config.NOTIFICATION_RETRY_SECONDS,
      logger,
      alerts,
      devices,
      concurrency: config.PUSH_PROVIDER === 'mailbox' ? { 'push-priority': 4, push: 4 } : PUSHES_AT_ONCE,
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
          provide: PushMetrics,
          inject: [QueueSizes, OldestUnsent],
          useFactory: (sizes: QueueSizes, oldest: OldestUnsent) => new PushMetrics(metrics.registry, sizes, oldest),
        },
        {
          provide: Pushes,
          inject: [Mailbox, ProviderLimiters],
          useFactory: (mailbox: Mailbox, gates: ProviderLimiters) => pushesOf(parts, mailbox, gates),
        },
        { provide: Clock, useClass: SystemClock },
        useCase(SendPush, Pushes, Clock),
        {
          provide: PushProcessor,
          inject: [SendPush, PushMetrics, QueuedJobs],
          useFactory: (sendPush: SendPush, counts: PushMetrics, jobs: QueuedJobs) =>
            new PushProcessor(sendPush, counts, { ...consumer, jobs }),
        },
      ],
      exports: [PushProcessor],
    };
  }
}

function pushesOf(parts: WorkerParts, mailbox: Mailbox, gates: ProviderLimiters): Pushes {
  const { config, inbox, statements, transactions, marks, possibleDuplicates, serviceAccount: account } = parts;
  if (config.PUSH_PROVIDER === 'mailbox' || !account) return new MailboxPushes(inbox, mailbox);
  const ledger = new PushLedger(statements, transactions, new PostgresOutbox(), {
    lockMs: CLAIM_LOCK_MS,
    marks,
    possibleDuplicates,
  });
  return new ProvidedPushes(new Fcm({ base: config.FCM_API_BASE, account }), ledger, gates.push);
}

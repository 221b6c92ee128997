import { Clock } from '#application/clock';
import { JOBS_PREFIX } from '#contracts/queue-jobs';
import { QueueSizes } from '#platform/jobs/queue-sizes';
import { useCase } from '#platform/use-case';
import { Module, type DynamicModule } from '@nestjs/common';
import { Mailbox } from '../mailbox/mailbox.api.ts';
import type { WorkerParts } from '../parts.ts';
import { Pushes } from './application/ports.ts';
import { SendPush } from './application/send-push.ts';
import { PushMetrics } from './inbound/push-metrics.ts';
import { PushProcessor } from './inbound/push.processor.ts';
import { MailboxPushes } from './outbound/mailbox-pushes.ts';

/** The queues `push` and `push-priority`, from the job to the provider. */
@Module({})
export class PushModule {
  static register({ config, logger, metrics, inbox, redis, jobsRedis }: WorkerParts): DynamicModule {
    const consumer = { connection: jobsRedis, retrySeconds: config.NOTIFICATION_RETRY_SECONDS, logger };
    const clock: Clock = { now: () => new Date() };
    return {
      module: PushModule,
      providers: [
        { provide: QueueSizes, useFactory: () => new QueueSizes(redis, JOBS_PREFIX, ['push', 'push-priority']) },
        {
          provide: PushMetrics,
          inject: [QueueSizes],
          useFactory: (sizes: QueueSizes) => new PushMetrics(metrics.registry, sizes),
        },
        { provide: Pushes, inject: [Mailbox], useFactory: (mailbox: Mailbox) => new MailboxPushes(inbox, mailbox) },
        { provide: Clock, useValue: clock },
        useCase(SendPush, Pushes, Clock),
        {
          provide: PushProcessor,
          inject: [SendPush, PushMetrics],
          useFactory: (sendPush: SendPush, counts: PushMetrics) => new PushProcessor(sendPush, counts, consumer),
        },
      ],
    };
  }
}

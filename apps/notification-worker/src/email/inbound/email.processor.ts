import { emailJob, JOBS_PREFIX } from '#contracts/queue-jobs';
import { QueueConsumer } from '#platform/jobs/queue-consumer';
import { isLedgerOutage } from '#platform/postgres/delivery-ledger';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { BeforeApplicationShutdown, OnModuleDestroy } from '@nestjs/common';
import type { SendMail } from '../application/send-mail.ts';
import type { EmailMetrics } from './email-metrics.ts';

/** Each holds one of the pool's 24 connections; together with the pushes' half of them stay free. */
const MAILS_AT_ONCE = 4;
/** What is in hand is one transaction or one provider call. */
const GRACE_MS = 10_000;

/** Serves the queue `email`. */
export class EmailProcessor implements OnModuleDestroy, BeforeApplicationShutdown {
  private readonly consumer;
  private stopped?: Promise<void>;

  constructor(
    sendMail: SendMail,
    metrics: EmailMetrics,
    options: { readonly connection: RedisConnection; readonly retrySeconds: readonly number[]; readonly logger: Logger },
  ) {
    this.consumer = new QueueConsumer({
      ...options,
      queue: 'email',
      prefix: JOBS_PREFIX,
      schema: emailJob,
      concurrency: MAILS_AT_ONCE,
      handle: async (job) => {
        const outcome = await sendMail.execute({ messageId: job.job_id, to: job.recipient, userId: job.user_id, content: job });
        if (outcome === 'sent') metrics.sent(job.template);
        return outcome;
      },
      onDeadLetter: ({ template }) => metrics.failed(template),
      isOutage: isLedgerOutage,
    });
  }

  start(): void {
    this.consumer.start();
  }

  /** All processors stop at the same time; Nest asks the next one only after the last one has answered. */
  onModuleDestroy(): void {
    this.stopped = this.consumer.stop(GRACE_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }
}

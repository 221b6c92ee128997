import { emailJob, JOBS_PREFIX, type EmailJob } from '#contracts/queue-jobs';
import { QueueConsumer } from '#messaging/jobs/queue-consumer';
import { isLedgerOutage } from '#messaging/inbox/delivery-ledger';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { BeforeApplicationShutdown, OnModuleDestroy } from '@nestjs/common';
import type { Alerts } from '#messaging/sending/alerts';
import type { QueuedJobs } from '#messaging/jobs/queued-jobs';
import { deadLetterAlert } from '#messaging/sending/dead-letter-alert';
import type { Mails } from '../application/ports.ts';
import type { SendMail } from '../application/send-mail.ts';
import type { EmailMetrics } from './email-metrics.ts';

/**
 * How long the stop of this processor waits for running jobs. Each job is at most one transaction or one call of the provider.
 */
const STOP_TIMEOUT_MS = 12_000;

/** What the processor needs besides the use case. */
export interface ProcessorOptions {
  readonly connection: RedisConnection;
  readonly retrySeconds: readonly number[];
  readonly logger: Logger;
  readonly concurrency: number;
  readonly alerts: Pick<Alerts, 'raise'>;
  readonly jobs: Pick<QueuedJobs, 'forget'>;
  readonly mails: Pick<Mails, 'settled'>;
}

/** Processes the jobs of the queue `email`. */
export class EmailProcessor implements OnModuleDestroy, BeforeApplicationShutdown {
  readonly consumers: readonly QueueConsumer<EmailJob>[];
  private readonly mails: ProcessorOptions['mails'];
  private stopped?: Promise<unknown>;

  constructor(sendMail: SendMail, metrics: EmailMetrics, { alerts, jobs, mails, ...options }: ProcessorOptions) {
    this.mails = mails;
    const handle = async (job: EmailJob): Promise<string> => {
      const outcome = await sendMail.execute({
        messageId: job.job_id,
        to: job.recipient,
        userId: job.user_id,
        content: job,
        usefulUntil: job.useful_until === undefined ? undefined : new Date(job.useful_until),
      });
      if (outcome === 'sent') metrics.sent(job.template);
      if (outcome === 'expired') metrics.expired(job.template);
      jobs.forget(job.job_id);
      return outcome;
    };
    const consumer = new QueueConsumer({
      ...options,
      queue: 'email',
      prefix: JOBS_PREFIX,
      schema: emailJob,
      handle,
      onDeadLetter: (letter) => {
        metrics.failed(letter.template);
        alerts.raise(deadLetterAlert('email', letter));
      },
      isOutage: isLedgerOutage,
    });
    this.consumers = [consumer];
  }

  start(): void {
    for (const consumer of this.consumers) consumer.start();
  }

  /**
   * Starts the stop of the consumers and does not wait for its end. Nest calls the processors one after the other, and all of
   * them must stop at the same time.
   */
  onModuleDestroy(): void {
    this.stopped = Promise.all(this.consumers.map((consumer) => consumer.stop(STOP_TIMEOUT_MS)));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
    await this.mails.settled();
  }
}

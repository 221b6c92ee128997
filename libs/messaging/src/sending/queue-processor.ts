import { JOBS_PREFIX, type AboutMessage, type JobQueue } from '#contracts/queue-jobs';
import { isLedgerOutage } from '../inbox/delivery-ledger.ts';
import { loggedAbout, QueueConsumer } from '../jobs/queue-consumer.ts';
import type { QueuedJobs } from '../jobs/queued-jobs.ts';
import type { Alerts } from './alerts.ts';
import { deadLetterAlert } from './dead-letter-alert.ts';
import { plainLines, type PlainLines } from '#platform/logging/log-lines';
import type { Logger } from '#platform/logging/logger';
import { requestContext } from '#platform/logging/request-context';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { BeforeApplicationShutdown, OnModuleDestroy } from '@nestjs/common';
import type { z } from 'zod';
import type { SendingMetrics } from './sending-metrics.ts';

/**
 * How long the stop of a processor waits for running jobs. Each job is at most one transaction or one group of provider calls.
 */
const STOP_TIMEOUT_MS = 12_000;

/** What every processor needs. */
export interface ProcessorOptions {
  readonly connection: RedisConnection;
  readonly retrySeconds: readonly number[];
  readonly logger: Logger;
  readonly alerts: Pick<Alerts, 'raise'>;
  readonly jobs: Pick<QueuedJobs, 'forget' | 'unpack'>;
  readonly metrics: SendingMetrics;
}

/** What the jobs of all queues have in common. */
interface NotificationJob {
  readonly job_id: string;
  readonly type: 'email' | 'push';
  readonly template: string;
  readonly useful_until?: string | undefined;
  readonly about?: AboutMessage | undefined;
}

/** Processes the jobs of one or more queues, each with a concurrency of its own. */
export abstract class QueueProcessor<Queue extends JobQueue, Job extends NotificationJob>
  implements OnModuleDestroy, BeforeApplicationShutdown
{
  readonly consumers: readonly QueueConsumer<Job>[];
  private stopped?: Promise<unknown>;
  private readonly lines: PlainLines;

  constructor(
    schema: z.ZodType<Job>,
    concurrency: Readonly<Record<Queue, number>>,
    protected readonly options: ProcessorOptions,
  ) {
    const { connection, retrySeconds, logger, alerts, metrics } = options;
    this.lines = plainLines(logger);
    this.consumers = (Object.keys(concurrency) as Queue[]).map(
      (queue) =>
        new QueueConsumer<Job>({
          connection,
          retrySeconds,
          logger,
          queue,
          prefix: JOBS_PREFIX,
          schema,
          concurrency: concurrency[queue],
          handle: (job) => this.handle(job, queue),
          originOf: ({ about }) =>
            about?.request_id === undefined ? undefined : { requestId: about.request_id, traceparent: about.traceparent },
          onDeadLetter: (letter) => {
            metrics.count('failed', letter.template);
            alerts.raise(deadLetterAlert(queue, letter));
          },
          isOutage: isLedgerOutage,
        }),
    );
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
  }

  /** Handles a job. BullMQ stores the returned text with the completed job. */
  protected abstract handle(job: Job, queue: Queue): Promise<string>;

  /** The line has ids only. It is the same for a mail and for a push. */
  private logOutcome(job: NotificationJob, outcome: string): void {
    if (!this.lines.isEnabled) return;
    const { requestId, trace } = requestContext.current() ?? {};
    const fields = {
      request_id: requestId,
      trace_id: trace?.traceId,
      ...loggedAbout(job),
      job_id: job.job_id,
      template: job.template,
    };
    this.lines.write(JSON.stringify(fields).slice(1, -1), `${job.type} ${outcome}`);
  }

  /**
   * Sends the message of a job, and logs what became of it: `email sent`, `push duplicate`. After `useful_until` the message is dropped, for example "your turn" after the end of the turn, or a
   * reminder after the match.
   */
  protected async sendIfUseful(job: NotificationJob, send: () => Promise<string>): Promise<string> {
    const isUseful = job.useful_until === undefined || Date.now() < Date.parse(job.useful_until);
    const outcome = isUseful ? await send() : 'expired';
    if (!isUseful) this.options.metrics.count('expired', job.template);
    this.options.jobs.forget(job.job_id);
    this.logOutcome(job, outcome);
    return outcome;
  }
}

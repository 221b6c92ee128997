import {
  anyPushJob,
  JOBS_PREFIX,
  type AnyPushJob,
  type BroadcastBundle,
  type BroadcastJob,
  type PushJob,
} from '#contracts/queue-jobs';
import { QueueConsumer } from '#messaging/jobs/queue-consumer';
import { isLedgerOutage } from '#messaging/inbox/delivery-ledger';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { BeforeApplicationShutdown, OnModuleDestroy } from '@nestjs/common';
import type { Alerts } from '#messaging/sending/alerts';
import type { QueuedJobs } from '#messaging/jobs/queued-jobs';
import { deadLetterAlert } from '#messaging/sending/dead-letter-alert';
import type { Broadcasts } from '../application/ports.ts';
import type { SendPush } from '../application/send-push.ts';
import type { PushMetrics } from './push-metrics.ts';

/**
 * How long the stop of this processor waits for running jobs. Each job is at most one transaction or one group of provider calls.
 */
const STOP_TIMEOUT_MS = 12_000;
/** Each queue has its own concurrency, so "your turn" never waits for the jobs of a broadcast. */
const PUSH_QUEUES = ['push-priority', 'push'] as const;

/** What the processor needs besides the use case. */
export interface ProcessorOptions {
  readonly connection: RedisConnection;
  readonly retrySeconds: readonly number[];
  readonly logger: Logger;
  readonly concurrency: Readonly<Record<(typeof PUSH_QUEUES)[number], number>>;
  readonly alerts: Pick<Alerts, 'raise'>;
  readonly jobs: Pick<QueuedJobs, 'forget' | 'unpack'>;
  readonly broadcasts: Broadcasts;
}

/** Processes the jobs of the queues `push-priority` and `push`. */
export class PushProcessor implements OnModuleDestroy, BeforeApplicationShutdown {
  readonly consumers: readonly QueueConsumer<AnyPushJob>[];
  private readonly broadcasts: Broadcasts;
  private readonly jobs: Pick<QueuedJobs, 'forget' | 'unpack'>;
  private stopped?: Promise<unknown>;

  constructor(
    private readonly sendPush: SendPush,
    private readonly metrics: PushMetrics,
    { alerts, jobs, concurrency, broadcasts, ...options }: ProcessorOptions,
  ) {
    this.broadcasts = broadcasts;
    this.jobs = jobs;
    this.consumers = PUSH_QUEUES.map(
      (queue) =>
        new QueueConsumer<AnyPushJob>({
          ...options,
          queue,
          prefix: JOBS_PREFIX,
          schema: anyPushJob,
          concurrency: concurrency[queue],
          handle: (job) => ('ranges' in job ? this.unpack(queue, job) : this.handle(job, queue === 'push-priority')),
          onDeadLetter: (letter) => {
            metrics.failed(letter.template);
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
    this.sendPush.stop();
    this.stopped = Promise.all(this.consumers.map((consumer) => consumer.stop(STOP_TIMEOUT_MS)));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }

  private async unpack(queue: (typeof PUSH_QUEUES)[number], bundle: BroadcastBundle): Promise<string> {
    await this.jobs.unpack(queue, bundle);
    return 'unpacked';
  }

  private async handle(job: PushJob | BroadcastJob, urgent: boolean): Promise<string> {
    const recipients =
      'range' in job
        ? { broadcastId: job.broadcast_id, tokens: await this.broadcasts.tokens(job.broadcast_id, job.range) }
        : { userId: job.user_id, tokens: [...new Set(job.fcm_tokens)] };
    const result = await this.sendPush.execute({
      ...recipients,
      messageId: job.job_id,
      template: job.template,
      title: job.payload.title,
      body: job.payload.body,
      data: job.payload.data,
      urgent,
      usefulUntil: job.useful_until === undefined ? undefined : new Date(job.useful_until),
    });
    const secondsSinceWritten = (Date.now() - Date.parse(job.created_at)) / 1000;
    if (result.outcome === 'sent') this.metrics.sent(job.template, result.devices, secondsSinceWritten);
    if (result.outcome === 'expired') this.metrics.expired(job.template);
    this.jobs.forget(job.job_id);
    return result.outcome;
  }
}

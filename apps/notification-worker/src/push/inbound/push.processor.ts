import { JOBS_PREFIX, pushJob, type PushJob } from '#contracts/queue-jobs';
import { QueueConsumer } from '#platform/jobs/queue-consumer';
import { isLedgerOutage } from '#platform/postgres/delivery-ledger';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { BeforeApplicationShutdown, OnModuleDestroy } from '@nestjs/common';
import type { SendPush } from '../application/send-push.ts';
import type { PushMetrics } from './push-metrics.ts';

/** Each holds one of the pool's 24 connections; together with the mails' half of them stay free. */
const PUSHES_AT_ONCE = 4;
/** What is in hand is one transaction or one provider call. */
const GRACE_MS = 10_000;
/** The priority lane has hands of its own, so "your turn" never waits for a mailing to let go of one. */
const LANES = ['push-priority', 'push'] as const;

/** Serves the queues `push-priority` and `push`. */
export class PushProcessor implements OnModuleDestroy, BeforeApplicationShutdown {
  private readonly consumers: readonly QueueConsumer<PushJob>[];
  private stopped?: Promise<unknown>;

  constructor(
    private readonly sendPush: SendPush,
    private readonly metrics: PushMetrics,
    options: { readonly connection: RedisConnection; readonly retrySeconds: readonly number[]; readonly logger: Logger },
  ) {
    this.consumers = LANES.map(
      (queue) =>
        new QueueConsumer({
          ...options,
          queue,
          prefix: JOBS_PREFIX,
          schema: pushJob,
          concurrency: PUSHES_AT_ONCE,
          handle: (job) => this.handle(job),
          onDeadLetter: ({ template }) => metrics.failed(template),
          isOutage: isLedgerOutage,
        }),
    );
  }

  start(): void {
    for (const consumer of this.consumers) consumer.start();
  }

  /** All processors stop at the same time; Nest asks the next one only after the last one has answered. */
  onModuleDestroy(): void {
    this.stopped = Promise.all(this.consumers.map((consumer) => consumer.stop(GRACE_MS)));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }

  private async handle(job: PushJob): Promise<string> {
    const tokens = [...new Set(job.fcm_tokens)];
    const outcome = await this.sendPush.execute({
      messageId: job.job_id,
      template: job.template,
      userId: job.user_id,
      tokens,
      title: job.payload.title,
      body: job.payload.body,
      usefulUntil: job.useful_until === undefined ? undefined : new Date(job.useful_until),
    });
    const secondsSinceWritten = (Date.now() - Date.parse(job.created_at)) / 1000;
    if (outcome === 'sent') this.metrics.sent(job.template, tokens.length, secondsSinceWritten);
    if (outcome === 'expired') this.metrics.expired(job.template);
    return outcome;
  }
}

import { JobRunner, type JobKind } from '#platform/jobs/job-runner';
import type { JobLedger } from '#platform/jobs/job-ledger';
import type { JobTransport } from '#platform/jobs/job-transport';
import { JobUpkeep } from '#platform/jobs/job-upkeep';
import type { Logger } from '#platform/logging/logger';
import { RelayLoop } from '#platform/outbox/relay-loop';
import type { TransactionManager } from '#application/transaction-manager';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { AlertUpkeep } from '#platform/sending/alert-upkeep';
import type { ConsumeLimits } from '../jobs.api.ts';

/** Each holds a connection of the pool's 24; requests come first. */
const AT_ONCE = 4;
/** Also how long a stop takes when Redis is away: whether anything was in hand is not to be heard. */
const GRACE_MS = 5000;
const UPKEEP_MS = 60_000;
/** How soon a failure that stands in PostgreSQL is noted, and an alert that is due is told. */
const ALERTS_MS = 5000;
const REFRESH_AFTER_MS = 100;

export abstract class ConsumerParts {
  abstract readonly transport: JobTransport;
  abstract readonly ledger: JobLedger;
  abstract readonly transactions: TransactionManager;
  abstract readonly kinds: readonly JobKind[];
  abstract readonly logger: Logger;
}

/** Does the general jobs, in every replica of the monolith; and sees to it that none is forgotten. */
export class JobConsumer implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private runner: JobRunner | undefined;
  private readonly upkeep: RelayLoop;
  private readonly alertLoop: RelayLoop;
  private stopped: Promise<unknown> | undefined;

  constructor(
    private readonly parts: ConsumerParts,
    private readonly alerts: AlertUpkeep,
    private readonly isLooping: boolean,
  ) {
    const { ledger, transport, logger } = parts;
    const upkeep = new JobUpkeep(ledger, transport, logger);
    this.upkeep = new RelayLoop('job upkeep', () => upkeep.runOnce().then(() => 0), logger, UPKEEP_MS);
    this.alertLoop = new RelayLoop('alerts', () => alerts.runOnce(), logger, ALERTS_MS);
  }

  onApplicationBootstrap(): void {
    if (!this.isLooping) return;
    this.runner = this.open(AT_ONCE);
    this.runner.start();
    this.upkeep.start();
    this.alertLoop.start();
  }

  onModuleDestroy(): void {
    this.stopped = Promise.all([this.runner?.stop(GRACE_MS), this.upkeep.stop(), this.alertLoop.stop()]);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }

  /** One after the other, so that no more are begun than are wanted. */
  async consume({ limit, timeLimitSeconds, untilEmpty, stop }: ConsumeLimits): Promise<number> {
    const endAt = Date.now() + timeLimitSeconds * 1000;
    let done = 0;
    let stopping: Promise<void> | undefined;
    const end = (): void => void (stopping ??= runner.stop(GRACE_MS));
    const runner = this.open(1, () => {
      done += 1;
      if (done >= limit || stop.aborted || Date.now() >= endAt) end();
    });
    runner.start();
    while (!stopping) {
      await new Promise((resolve) => setTimeout(resolve, REFRESH_AFTER_MS));
      if (stop.aborted || Date.now() >= endAt || (untilEmpty && (await this.isEmpty()))) end();
    }
    await stopping;
    return done;
  }

  private open(concurrency: number, afterEach?: () => void): JobRunner {
    const { logger } = this.parts;
    const onFailed = (job: { id: string; class: string }): void =>
      void this.alerts
        .runOnce()
        .catch((error: unknown) => logger.error({ err: error, job_id: job.id }, 'operators will be told later of a failed job'));
    return new JobRunner({ ...this.parts, concurrency, afterEach, onFailed });
  }

  /** Nothing to be done now: what is delayed comes later. */
  private async isEmpty(): Promise<boolean> {
    const { waiting, active } = await this.parts.transport.counts();
    return waiting + active === 0;
  }
}

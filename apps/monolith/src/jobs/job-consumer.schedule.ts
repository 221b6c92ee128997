import { JobRunner, type RunnerOptions } from '#messaging/jobs/job-runner';
import { JobUpkeep } from '#messaging/jobs/job-upkeep';
import type { TaskDefinition } from '#platform/schedule/periodic-task';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { AlertUpkeep } from '#messaging/sending/alert-upkeep';
import type { MonolithConfig } from '../config.ts';
import { CONFIG } from '../tokens.ts';
import type { ConsumeLimits } from './jobs.api.ts';

/** Each running job uses one of the pool's 24 connections; most of them must stay free for requests. */
const CONCURRENT_JOBS = 4;
/**
 * How long a stop waits for running jobs. Without Redis a stop always takes this long, because we cannot see whether a job runs.
 */
const STOP_TIMEOUT_MS = 5000;
const JOB_UPKEEP: TaskDefinition = {
  name: 'job upkeep',
  everyMs: 60_000,
  does: 'Queues jobs again that Redis has lost, and deletes old jobs.',
};
const ALERTS: TaskDefinition = {
  name: 'alerts',
  everyMs: 5000,
  does: 'Finds failures that operators must be told about, and sends their alerts, also those that had to wait.',
};
const POLL_INTERVAL_MS = 100;

/** Injection token: what the consumer needs to run jobs. */
export const JOB_RUNNER = Symbol('job runner');
export type JobRunnerParts = Pick<RunnerOptions, 'transport' | 'ledger' | 'transactions' | 'kinds' | 'logger'>;

/**
 * Runs the general jobs (all jobs except mails and pushes) in every replica of the monolith, unless JOBS_IN_MONOLITH is false.
 * Also queues jobs again that Redis has lost, and finds failures that operators must be told about and sends the alerts. These
 * two loops run in every monolith whatever JOBS_IN_MONOLITH says, because `jobs:consume` ends after its time limit.
 */
@Injectable()
export class JobConsumer implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private runner: JobRunner | undefined;
  private stopped: Promise<void> | undefined;

  constructor(
    @Inject(JOB_RUNNER) private readonly parts: JobRunnerParts,
    private readonly alerts: AlertUpkeep,
    private readonly tasks: PeriodicTasks,
    @Inject(CONFIG) private readonly config: Pick<MonolithConfig, 'JOBS_IN_MONOLITH'>,
  ) {
    const { ledger, transport, logger } = parts;
    const upkeep = new JobUpkeep(ledger, transport, logger);
    tasks.add(JOB_UPKEEP, async () => void (await upkeep.runOnce()));
    tasks.add(ALERTS, () => alerts.runOnce());
  }

  onApplicationBootstrap(): void {
    if (!this.tasks.isEnabled || !this.config.JOBS_IN_MONOLITH) return;
    this.runner = this.open(CONCURRENT_JOBS);
    this.runner.start();
  }

  onModuleDestroy(): void {
    this.stopped = this.runner?.stop(STOP_TIMEOUT_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }

  /**
   * Runs jobs and returns how many it ran. Stops after `limit` jobs, after `timeLimitSeconds`, when `stop` is aborted, or with
   * `untilEmpty` when no job waits or runs. Runs one job at a time, so that it never starts more than `limit` jobs.
   */
  async consume({ limit, timeLimitSeconds, untilEmpty, stop }: ConsumeLimits): Promise<number> {
    const endAt = Date.now() + timeLimitSeconds * 1000;
    let done = 0;
    let stopping: Promise<void> | undefined;
    const end = (): void => void (stopping ??= runner.stop(STOP_TIMEOUT_MS));
    const runner = this.open(1, () => {
      done += 1;
      if (done >= limit || stop.aborted || Date.now() >= endAt) end();
    });
    runner.start();
    while (!stopping) {
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
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
        .catch((error: unknown) =>
          logger.error({ err: error, job_id: job.id }, 'the alert about a failed job will be sent later'),
        );
    return new JobRunner({ ...this.parts, concurrency, afterEach, onFailed });
  }

  /** True if no job is waiting or running. Delayed jobs do not count. */
  private async isEmpty(): Promise<boolean> {
    const { waiting, active } = await this.parts.transport.counts();
    return waiting + active === 0;
  }
}

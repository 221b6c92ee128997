import { alertChannels } from '#platform/config/settings';
import { JOBS_PREFIX, jobQueues } from '#contracts/queue-jobs';
import { DeadLetters } from '#messaging/jobs/dead-letters';
import type { TaskDefinition } from '#platform/schedule/periodic-task';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Module, type BeforeApplicationShutdown, type DynamicModule } from '@nestjs/common';
import type { WorkerParts } from '../parts.ts';
import { UnlimitedProvider, SharedProviderLimiter, type ProviderLimiter } from '#messaging/sending/provider-limiter';
import { QueuedJobs } from '#messaging/jobs/queued-jobs';
import { AlertUpkeep } from '#messaging/sending/alert-upkeep';
import { unreportedDeadLetterAlert } from '#messaging/sending/dead-letter-alert';

const LOST_JOBS: TaskDefinition = {
  name: 'lost jobs',
  everyMs: 5000,
  does: 'Puts jobs that Redis has lost back into their queues.',
};
const ALERTS: TaskDefinition = {
  name: 'alerts',
  everyMs: 10_000,
  does: 'Reports dead letters that a worker did not report before it died, and creates the alerts that had to wait or failed.',
};

/** The limiter (rate limit and breaker) of the mail provider and of the push provider. */
export class ProviderLimiters {
  constructor(
    readonly email: ProviderLimiter,
    readonly push: ProviderLimiter,
  ) {}
}

/** Puts jobs that Redis has lost back into their queues. */
class JobRestorer implements BeforeApplicationShutdown {
  constructor(
    private readonly jobs: QueuedJobs,
    tasks: PeriodicTasks,
  ) {
    tasks.add(LOST_JOBS, () => jobs.restoreOnce());
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.jobs.close();
  }
}

/**
 * Reports dead letters that a worker did not report before it died. Also creates the alerts that had to wait after an earlier alert
 * of the same kind, and retries alerts that failed.
 */
class AlertSchedule {
  constructor({ config, redis, alertNotes }: WorkerParts, tasks: PeriodicTasks) {
    const letters = new DeadLetters(redis, JOBS_PREFIX, jobQueues, (subjects) => alertNotes.unknown(subjects));
    const upkeep = new AlertUpkeep(alertNotes, alertChannels(config), [
      async () => (await letters.unreported()).map(unreportedDeadLetterAlert),
    ]);
    tasks.add(ALERTS, () => upkeep.runOnce());
  }
}

/** What the sending of mails and of pushes shares: limiters, alerts, and the repair of lost jobs. */
@Module({})
export class SendingModule {
  static register(parts: WorkerParts): DynamicModule {
    const { config, redis, alerts, database, logger } = parts;
    const limiterOf = (provider: string, callsPerSecond: number): ProviderLimiter =>
      provider === 'mailbox'
        ? new UnlimitedProvider()
        : new SharedProviderLimiter(redis, {
            provider,
            callsPerSecond,
            onBreaker: (name, state) =>
              alerts.raise({
                about: `breaker ${name} ${state}`,
                text:
                  state === 'opened'
                    ? `${name} failed 20 times in a row; its queue is paused, one call is tried every 5 s, no message is lost`
                    : `${name} answers again; its queue continues`,
              }),
          });
    return {
      module: SendingModule,
      global: true,
      providers: [
        { provide: QueuedJobs, useFactory: () => new QueuedJobs(database, redis, logger) },
        {
          provide: AlertSchedule,
          inject: [PeriodicTasks],
          useFactory: (tasks: PeriodicTasks) => new AlertSchedule(parts, tasks),
        },
        {
          provide: JobRestorer,
          inject: [QueuedJobs, PeriodicTasks],
          useFactory: (jobs: QueuedJobs, tasks: PeriodicTasks) => new JobRestorer(jobs, tasks),
        },
        {
          provide: ProviderLimiters,
          useFactory: () =>
            new ProviderLimiters(
              limiterOf(config.EMAIL_PROVIDER, config.EMAIL_RATE_PER_SECOND),
              limiterOf(config.PUSH_PROVIDER, config.PUSH_CALLS_PER_SECOND),
            ),
        },
      ],
      exports: [ProviderLimiters, QueuedJobs],
    };
  }
}

import { alertChannels } from '#platform/config/settings';
import { JOBS_PREFIX, jobQueues } from '#contracts/queue-jobs';
import { DeadLetters } from '#messaging/jobs/dead-letters';
import { RelayLoop } from '#messaging/outbox/relay-loop';
import { Module, type BeforeApplicationShutdown, type DynamicModule } from '@nestjs/common';
import type { WorkerParts } from '../parts.ts';
import { UnlimitedProvider, SharedProviderLimiter, type ProviderLimiter } from '#messaging/sending/provider-limiter';
import { QueuedJobs } from '#messaging/jobs/queued-jobs';
import { AlertUpkeep } from '#messaging/sending/alert-upkeep';
import { unreportedDeadLetterAlert } from '#messaging/sending/dead-letter-alert';

/** How often the worker checks whether Redis has lost its jobs. */
const RESTORE_INTERVAL_MS = 5000;
/** How often the worker searches for dead letters that another worker did not report before it died. */
const ALERTS_INTERVAL_MS = 10_000;

/** The limiter (rate limit and breaker) of the mail provider and of the push provider. */
export class ProviderLimiters {
  constructor(
    readonly email: ProviderLimiter,
    readonly push: ProviderLimiter,
  ) {}
}

/** Puts jobs that Redis has lost back into their queues. Runs from the start of the service to its end. */
export class JobRestorer implements BeforeApplicationShutdown {
  private readonly loop: RelayLoop;

  constructor(
    private readonly jobs: QueuedJobs,
    { logger }: Pick<WorkerParts, 'logger'>,
  ) {
    this.loop = new RelayLoop('lost jobs', () => jobs.restoreOnce(), logger, RESTORE_INTERVAL_MS);
  }

  start(): void {
    this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
    await this.jobs.close();
  }
}

/**
 * Reports dead letters that a worker did not report before it died. Also creates the alerts that had to wait after an earlier alert
 * of the same kind, and retries alerts that failed.
 */
export class AlertLoop implements BeforeApplicationShutdown {
  private readonly loop: RelayLoop;

  constructor({ config, redis, alertNotes, logger }: WorkerParts) {
    const letters = new DeadLetters(redis, JOBS_PREFIX, jobQueues, (subjects) => alertNotes.unknown(subjects));
    const upkeep = new AlertUpkeep(alertNotes, alertChannels(config), [
      async () => (await letters.unreported()).map(unreportedDeadLetterAlert),
    ]);
    this.loop = new RelayLoop('alerts', () => upkeep.runOnce(), logger, ALERTS_INTERVAL_MS);
  }

  start(): void {
    this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
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
        { provide: AlertLoop, useFactory: () => new AlertLoop(parts) },
        { provide: JobRestorer, inject: [QueuedJobs], useFactory: (jobs: QueuedJobs) => new JobRestorer(jobs, parts) },
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

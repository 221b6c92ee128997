import { alertWays } from '#platform/config/settings';
import { JOBS_PREFIX, jobQueues } from '#contracts/queue-jobs';
import { DeadLetters } from '#platform/jobs/dead-letters';
import { RelayLoop } from '#platform/outbox/relay-loop';
import { Module, type BeforeApplicationShutdown, type DynamicModule } from '@nestjs/common';
import type { WorkerParts } from '../parts.ts';
import { UnlimitedProvider, SharedProviderLimiter, type ProviderLimiter } from '#platform/sending/provider-limiter';
import { QueuedJobs } from '#platform/jobs/queued-jobs';
import { AlertUpkeep } from '#platform/sending/alert-upkeep';
import { foundLetterAlert } from '#platform/jobs/dead-letter-alert';

/** How soon a Redis that has lost its jobs is noticed. */
const RESTORE_EVERY_MS = 5000;
/** How soon a dead letter is found that a worker has left without a report. */
const ALERTS_EVERY_MS = 10_000;

/** The doors to the two providers. */
export class ProviderLimiters {
  constructor(
    readonly email: ProviderLimiter,
    readonly push: ProviderLimiter,
  ) {}
}

/** Looks for jobs that Redis has lost, from the start of the service to its end. */
export class JobRestorer implements BeforeApplicationShutdown {
  private readonly loop: RelayLoop;

  constructor(
    private readonly jobs: QueuedJobs,
    { logger }: Pick<WorkerParts, 'logger'>,
  ) {
    this.loop = new RelayLoop('lost jobs', () => jobs.restoreOnce(), logger, RESTORE_EVERY_MS);
  }

  start(): void {
    this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
    await this.jobs.close();
  }
}

/** Reports what a worker that died has left unreported, and tells operators what is due. */
export class AlertLoop implements BeforeApplicationShutdown {
  private readonly loop: RelayLoop;

  constructor({ config, redis, alertNotes, logger }: WorkerParts) {
    const letters = new DeadLetters(redis, JOBS_PREFIX, jobQueues, (subjects) => alertNotes.unknown(subjects));
    const upkeep = new AlertUpkeep(alertNotes, alertWays(config), [
      async () => (await letters.unreported()).map(foundLetterAlert),
    ]);
    this.loop = new RelayLoop('alerts', () => upkeep.runOnce(), logger, ALERTS_EVERY_MS);
  }

  start(): void {
    this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }
}

/** What both channels have in common on the way out. */
@Module({})
export class SendingModule {
  static register(parts: WorkerParts): DynamicModule {
    const { config, redis, alerts, database, logger } = parts;
    const gate = (provider: string, callsPerSecond: number): ProviderLimiter =>
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
                    ? `${name} failed 20 times in a row; its queue rests, one try every 5 s, nothing is lost`
                    : `${name} answers again; its queue goes on`,
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
              gate(config.EMAIL_PROVIDER, config.EMAIL_RATE_PER_SECOND),
              gate(config.PUSH_PROVIDER, config.PUSH_CALLS_PER_SECOND),
            ),
        },
      ],
      exports: [ProviderLimiters, QueuedJobs],
    };
  }
}

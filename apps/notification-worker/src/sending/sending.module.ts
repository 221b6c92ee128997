import { JOBS_PREFIX, jobQueues } from '#contracts/queue-jobs';
import { DeadLetters } from '#messaging/jobs/dead-letters';
import { AlertUpkeep } from '#messaging/sending/alert-upkeep';
import { unreportedDeadLetterAlert } from '#messaging/sending/dead-letter-alert';
import { alertChannels } from '#platform/config/settings';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Module, type BeforeApplicationShutdown, type DynamicModule } from '@nestjs/common';
import type { WorkerParts } from '../parts.ts';

/**
 * The periodic tasks of the sending. A dead letter is reported by the worker that failed it; the task reports those of workers that
 * died before. It also creates the alerts that had to wait after an earlier alert of the same kind, and retries failed alerts.
 */
class SendingTasks implements BeforeApplicationShutdown {
  constructor(
    private readonly parts: WorkerParts,
    tasks: PeriodicTasks,
  ) {
    const { config, redis, alertNotes, jobs } = parts;
    const letters = new DeadLetters(redis, JOBS_PREFIX, jobQueues, (subjects) => alertNotes.unknown(subjects));
    const upkeep = new AlertUpkeep(alertNotes, alertChannels(config), [
      async () => (await letters.unreported()).map(unreportedDeadLetterAlert),
    ]);
    tasks.add({ name: 'lost jobs', everyMs: 5000, does: 'Puts jobs that Redis has lost back into their queues.' }, () =>
      jobs.restoreOnce(),
    );
    const does =
      'Reports dead letters that a worker did not report before it died, and creates the alerts that had to wait or failed.';
    tasks.add({ name: 'alerts', everyMs: 10_000, does }, () => upkeep.runOnce());
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.parts.jobs.close();
  }
}

/** What the sending of mails and of pushes shares: alerts, and the repair of lost jobs. */
@Module({})
export class SendingModule {
  static register(parts: WorkerParts): DynamicModule {
    const useFactory = (tasks: PeriodicTasks): SendingTasks => new SendingTasks(parts, tasks);
    return { module: SendingModule, providers: [{ provide: SendingTasks, inject: [PeriodicTasks], useFactory }] };
  }
}

import { JOBS_PREFIX, jobQueues } from '#contracts/queue-jobs';
import { DeadLetters } from '#messaging/jobs/dead-letters';
import { AlertUpkeep } from '#messaging/sending/alert-upkeep';
import { unreportedDeadLetterAlert } from '#messaging/sending/dead-letter-alert';
import { alertChannels } from '#platform/config/alert-channels';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Inject, Module, type BeforeApplicationShutdown, type DynamicModule } from '@nestjs/common';
import { PARTS, type WorkerParts } from '../parts.ts';

const LOST_JOBS = { name: 'lost jobs', everyMs: 5000, does: 'Puts jobs that Redis has lost back into their queues.' };
const ALERTS = {
  name: 'alerts',
  everyMs: 10_000,
  does: 'Reports dead letters that a worker did not report before it died, and creates the alerts that had to wait or failed.',
};

/**
 * What the sending of mails and of pushes shares: the repair of lost jobs, and alerts. A dead letter is reported by the worker that
 * failed it; the task `alerts` reports those of workers that died before. It also creates the alerts that had to wait after an
 * earlier alert of the same kind, and retries failed alerts.
 */
@Module({})
export class SendingModule implements BeforeApplicationShutdown {
  constructor(
    @Inject(PARTS) private readonly parts: WorkerParts,
    tasks: PeriodicTasks,
  ) {
    const { config, redis, alertNotes, jobs } = parts;
    const letters = new DeadLetters(redis, JOBS_PREFIX, jobQueues, (subjects) => alertNotes.unknown(subjects));
    const upkeep = new AlertUpkeep(alertNotes, alertChannels(config), [
      async () => (await letters.unreported()).map(unreportedDeadLetterAlert),
    ]);
    tasks.add(LOST_JOBS, () => jobs.restoreOnce());
    tasks.add(ALERTS, () => upkeep.runOnce());
  }

  static register(parts: WorkerParts): DynamicModule {
    return { module: SendingModule, providers: [{ provide: PARTS, useValue: parts }] };
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.parts.jobs.close();
  }
}

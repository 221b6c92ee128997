import type { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import type { PlanReminders } from './plan-reminders.ts';

/** Plans reminders every five minutes. */
export class ReminderSchedule {
  constructor(planReminders: PlanReminders, tasks: PeriodicTasks) {
    tasks.add(
      { name: 'reminders', everyMs: 300_000, does: 'Plans the reminders to ticket holders about matches that come up.' },
      async () => void (await planReminders.execute()),
    );
  }
}

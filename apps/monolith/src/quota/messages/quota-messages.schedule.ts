import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Injectable } from '@nestjs/common';
import { QuotaNotices } from './quota-notices.ts';
import { RemindInvited } from './remind-invited.ts';

/** Sends what quotas have to say by a date: reminders of invitations, and notices of returns. */
@Injectable()
export class QuotaMessages {
  constructor(remindInvited: RemindInvited, notices: QuotaNotices, tasks: PeriodicTasks) {
    const reminds = 'Plans the reminders of invitations that end within 24 hours.';
    tasks.add({ name: 'invitation reminders', everyMs: 30_000, does: reminds }, async () => void (await remindInvited.execute()));
    const announces = 'Plans the notices to the contacts of quotas, 7 days and 1 day before their places return.';
    tasks.add({ name: 'quota notices', everyMs: 60_000, does: announces }, async () => void (await notices.planDue()));
  }
}

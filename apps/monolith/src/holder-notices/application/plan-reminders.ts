import type { Clock } from '#application/clock';
import type { Jobs } from '#application/jobs';
import type { TransactionManager } from '#application/transaction-manager';
import { isReminderDue, type RemindFans } from '#domain/notification/holder-notice';
import type { NoticeMatches, Reminders } from './ports.ts';

const DAY_MS = 86_400_000;

/**
 * Finds matches that kick off within 24 hours and adds a job that reminds their ticket holders. The job is added once for each
 * kick-off, even if several replicas run this use case at the same time.
 */
export class PlanReminders {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly matches: NoticeMatches,
    private readonly reminders: Reminders,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {}

  /** Returns the number of matches for which a reminder was planned. */
  async execute(): Promise<number> {
    const now = this.clock.now();
    const comingUp = await this.matches.comingUp(new Date(now.getTime() + DAY_MS));
    const due = comingUp.filter(({ kickoffAt }) => isReminderDue(kickoffAt, now));
    const planned = await this.reminders.planned(due.map(({ id }) => id));
    const isPlanned = (id: string, at: Date): boolean =>
      planned.some(({ matchId, kickoffAt }) => matchId === id && kickoffAt.getTime() === at.getTime());
    let newlyPlanned = 0;
    for (const match of due.filter(({ id, kickoffAt }) => !isPlanned(id, kickoffAt))) {
      newlyPlanned += await this.transactions.run(async (tx) => {
        if (!(await this.reminders.claim(tx, match))) return 0;
        const job: RemindFans = { class: 'remind_fans', matchId: match.id, afterUserId: null };
        await this.jobs.put(tx, [job]);
        return 1;
      });
    }
    return newlyPlanned;
  }
}

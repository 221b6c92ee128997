import type { Clock } from '#application/clock';
import type { Jobs } from '#application/jobs';
import type { TransactionManager } from '#application/transaction-manager';
import { isReminderDue, type RemindFans } from '#domain/notification/holder-notice';
import type { NoticeMatches, Reminders } from './ports.ts';

const DAY_MS = 86_400_000;

/** Finds matches whose last day has begun and has their fans reminded: once a kick-off, however many replicas look. */
export class PlanReminders {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly matches: NoticeMatches,
    private readonly reminders: Reminders,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {}

  /** How many matches it planned. */
  async execute(): Promise<number> {
    const now = this.clock.now();
    const comingUp = await this.matches.comingUp(new Date(now.getTime() + DAY_MS));
    const due = comingUp.filter(({ kickoffAt }) => isReminderDue(kickoffAt, now));
    const known = await this.reminders.known(due.map(({ id }) => id));
    const isKnown = (id: string, at: Date): boolean =>
      known.some(({ matchId, kickoffAt }) => matchId === id && kickoffAt.getTime() === at.getTime());
    let planned = 0;
    for (const match of due.filter(({ id, kickoffAt }) => !isKnown(id, kickoffAt))) {
      planned += await this.transactions.run(async (tx) => {
        if (!(await this.reminders.claim(tx, match))) return 0;
        const job: RemindFans = { class: 'remind_fans', matchId: match.id, afterUserId: null };
        await this.jobs.put(tx, [job]);
        return 1;
      });
    }
    return planned;
  }
}

import type { Clock } from '#application/clock';
import type { Jobs } from '#application/jobs';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { isReminderDue, type RemindFans } from '#domain/notification/holder-notice';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { NoticeMatch, NoticeMatches } from './notice-matches.ts';

const DAY_MS = 86_400_000;

/**
 * Finds matches that kick off within 24 hours and adds a job that reminds their ticket holders. The job is added once for each
 * kick-off, even if several replicas run this use case at the same time.
 */
export class PlanReminders {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: TransactionManager,
    private readonly matches: NoticeMatches,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {}

  /** Returns the number of matches for which a reminder was planned. */
  async execute(): Promise<number> {
    const now = this.clock.now();
    const comingUp = await this.matches.comingUp(new Date(now.getTime() + DAY_MS));
    const due = comingUp.filter(({ kickoffAt }) => isReminderDue(kickoffAt, now));
    const planned = await this.planned(due.map(({ id }) => id));
    const isPlanned = (id: string, at: Date): boolean =>
      planned.some(({ matchId, kickoffAt }) => matchId === id && kickoffAt.getTime() === at.getTime());
    let newlyPlanned = 0;
    for (const match of due.filter(({ id, kickoffAt }) => !isPlanned(id, kickoffAt))) {
      newlyPlanned += await this.transactions.run(async (tx) => {
        if (!(await this.claim(tx, match))) return 0;
        const job: RemindFans = { class: 'remind_fans', matchId: match.id, afterUserId: null };
        await this.jobs.put(tx, [job]);
        return 1;
      });
    }
    return newlyPlanned;
  }

  /** The kick-offs for which a reminder was planned. A match that is moved has a new kick-off and needs a new reminder. */
  private planned(matchIds: readonly string[]): Promise<readonly { matchId: string; kickoffAt: Date }[]> {
    return this.dataSource.query(
      `select match_id as "matchId", kickoff_at as "kickoffAt" from match_reminders where match_id = any($1::uuid[])`,
      [matchIds],
    );
  }

  /** Records that the reminder for the match's kick-off is planned. Returns false if it was recorded before. */
  private async claim(tx: Transaction, { id, kickoffAt }: NoticeMatch): Promise<boolean> {
    const rows = await inside(tx).rows(
      `insert into match_reminders (match_id, kickoff_at) values ($1, $2) on conflict do nothing returning 1`,
      [id, kickoffAt],
    );
    return rows.length > 0;
  }
}

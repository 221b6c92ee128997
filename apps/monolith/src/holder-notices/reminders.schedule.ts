import { Clock } from '#application/clock';
import { Jobs } from '#application/jobs';
import { TransactionManager } from '#application/transaction-manager';
import { isReminderDue, type RemindFans } from '#domain/notification/holder-notice';
import { inside } from '#platform/postgres/transaction';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CatalogApi, type CatalogMatch } from '../catalog/catalog.api.ts';

const MATCHES_PER_READ = 100;
const DAY_MS = 86_400_000;

/**
 * Finds matches that kick off within 24 hours and adds a job that reminds their ticket holders. The job is added once for each
 * kick-off, even if several replicas do this at the same time.
 */
@Injectable()
export class Reminders {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: TransactionManager,
    private readonly catalog: CatalogApi,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    tasks: PeriodicTasks,
  ) {
    const does = 'Plans the reminders to ticket holders about matches that come up.';
    tasks.add({ name: 'reminders', everyMs: 300_000, does }, async () => void (await this.runOnce()));
  }

  /** Returns the number of matches for which a reminder was planned. */
  async runOnce(): Promise<number> {
    const due = await this.dueMatches();
    const planned = await this.planned(due);
    let newlyPlanned = 0;
    for (const match of due.filter(({ id, kickoffAt }) => !planned.has(kickOffKey(id, kickoffAt))))
      if (await this.plan(match)) newlyPlanned += 1;
    return newlyPlanned;
  }

  /** Matches that kick off within 24 hours, by kick-off, without cancelled ones. */
  private async dueMatches(): Promise<readonly CatalogMatch[]> {
    const now = this.clock.now();
    const found: CatalogMatch[] = [];
    let page: readonly CatalogMatch[];
    do {
      page = await this.catalog.list({ after: found.at(-1)?.id, limit: MATCHES_PER_READ });
      found.push(...page);
    } while (page.length === MATCHES_PER_READ && page.at(-1)!.kickoffAt.getTime() <= now.getTime() + DAY_MS);
    return found.filter(({ kickoffAt, cancelledAt }) => isReminderDue(kickoffAt, now) && cancelledAt === null);
  }

  /** The kick-offs for which a reminder was planned. A match that is moved has a new kick-off and needs a new reminder. */
  private async planned(matches: readonly CatalogMatch[]): Promise<ReadonlySet<string>> {
    const rows = await this.dataSource.query<{ id: string; at: Date }[]>(
      `select match_id as id, kickoff_at as at from match_reminders where match_id = any($1::uuid[])`,
      [matches.map(({ id }) => id)],
    );
    return new Set(rows.map(({ id, at }) => kickOffKey(id, at)));
  }

  /** Adds the job, unless the reminder for the match's kick-off was planned before. Returns true if it added the job. */
  private plan({ id, kickoffAt }: CatalogMatch): Promise<boolean> {
    return this.transactions.run(async (tx) => {
      const claimed = await inside(tx).rows(
        `insert into match_reminders (match_id, kickoff_at) values ($1, $2) on conflict do nothing returning 1`,
        [id, kickoffAt],
      );
      const job: RemindFans = { class: 'remind_fans', matchId: id, afterUserId: null };
      if (claimed.length > 0) await this.jobs.put(tx, [job]);
      return claimed.length > 0;
    });
  }
}

const kickOffKey = (matchId: string, kickoffAt: Date): string => `${matchId} ${kickoffAt.toISOString()}`;

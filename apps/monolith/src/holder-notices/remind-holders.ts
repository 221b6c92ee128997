import type { Clock } from '#application/clock';
import { JobHandler, type Jobs } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import { isReminderDue, type RemindFans } from '#domain/notification/holder-notice';
import type { HolderPage, HolderPages } from './holder-pages.ts';
import type { NoticeMatches } from './notice-matches.ts';

/**
 * Reminds one page of ticket holders of their match and adds the job for the next page. Does nothing if the match was cancelled
 * in the meantime, or moved so that its kick-off is more than 24 hours away.
 */
export class RemindHolders extends JobHandler<RemindFans, HolderPage | undefined> {
  readonly class = 'remind_fans';

  constructor(
    private readonly matches: NoticeMatches,
    private readonly pages: HolderPages,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {
    super();
  }

  async prepare({ matchId, afterUserId }: RemindFans): Promise<HolderPage | undefined> {
    const match = await this.matches.find(matchId);
    if (!match || match.isCancelled || !isReminderDue(match.kickoffAt, this.clock.now())) return undefined;
    return this.pages.read(match, afterUserId);
  }

  async work(tx: Transaction, job: RemindFans, page: HolderPage | undefined): Promise<void> {
    if (!page) return;
    const afterUserId = await this.pages.notify(tx, { kind: 'coming up', match: page.match }, page);
    if (afterUserId) await this.jobs.put(tx, [{ ...job, afterUserId }]);
  }
}

import { JobHandler, type Jobs } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import type { AnnounceMatchChange } from '#domain/notification/holder-notice';
import type { HolderPage, HolderPages } from './holder-pages.ts';
import type { HolderNotice, NoticeMatches } from './notice-matches.ts';

/**
 * Tells one page of ticket holders that their match was moved, and adds the job for the next page. Does nothing if the match was
 * cancelled in the meantime.
 */
export class TellMatchChange extends JobHandler<AnnounceMatchChange, HolderPage | undefined> {
  readonly class = 'announce_match_change';

  constructor(
    private readonly matches: NoticeMatches,
    private readonly pages: HolderPages,
    private readonly jobs: Jobs,
  ) {
    super();
  }

  async prepare({ matchId, afterUserId }: AnnounceMatchChange): Promise<HolderPage | undefined> {
    const match = await this.matches.find(matchId);
    if (!match || match.isCancelled) return undefined;
    return this.pages.read(match, afterUserId);
  }

  async work(tx: Transaction, job: AnnounceMatchChange, page: HolderPage | undefined): Promise<void> {
    if (!page) return;
    const { previousKickoffAt, previousVenue } = job;
    const notice: HolderNotice = { kind: 'moved', match: page.match, previousKickoffAt, previousVenue };
    const afterUserId = await this.pages.notify(tx, notice, page);
    if (afterUserId) await this.jobs.put(tx, [{ ...job, afterUserId }]);
  }
}

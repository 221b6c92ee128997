import { JobHandler, type Jobs } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import type { AnnounceCancellation } from '#domain/notification/holder-notice';
import type { RefundMatch } from '#domain/purchase/refund';
import type { HolderPage, HolderPages } from './holder-pages.ts';
import type { NoticeMatches } from './notice-matches.ts';

/**
 * Tells one page of ticket holders that their match was cancelled, and adds the job for the next page. The refunds start only
 * after the last page: a refunded fan has no ticket any more and would not get the notice.
 */
export class TellCancellation extends JobHandler<AnnounceCancellation, HolderPage | undefined> {
  readonly class = 'announce_cancellation';

  constructor(
    private readonly matches: NoticeMatches,
    private readonly pages: HolderPages,
    private readonly jobs: Jobs,
  ) {
    super();
  }

  async prepare({ matchId, afterUserId }: AnnounceCancellation): Promise<HolderPage | undefined> {
    const match = await this.matches.find(matchId);
    return match && this.pages.read(match, afterUserId);
  }

  async work(tx: Transaction, job: AnnounceCancellation, page: HolderPage | undefined): Promise<void> {
    if (!page) return;
    const afterUserId = await this.pages.notify(tx, { kind: 'cancelled', match: page.match }, page);
    if (afterUserId) return this.jobs.put(tx, [{ ...job, afterUserId }]);
    const refundJob: RefundMatch = { class: 'refund_match', matchId: job.matchId, afterOrderId: null, round: 0 };
    await this.jobs.put(tx, [refundJob]);
  }
}

import { JobHandler, type Jobs } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import type { AnnounceCancellation } from '#domain/notification/holder-notice';
import type { RefundMatch } from '#domain/purchase/refund';
import { pageOf, tellPage, type Page } from './page.ts';
import type { Holders, MatchMails, MatchPushes, NoticeMatches } from './ports.ts';

/**
 * Tells a page of those who have a ticket that the match was cancelled, and has the next page told. After the last one the
 * refunds begin, and not before: whoever is refunded has no ticket any more, and would not be told why.
 */
export class TellCancellation extends JobHandler<AnnounceCancellation, Page | undefined> {
  readonly class = 'announce_cancellation';

  constructor(
    private readonly matches: NoticeMatches,
    readonly holders: Holders,
    readonly mails: MatchMails,
    readonly pushes: MatchPushes,
    private readonly jobs: Jobs,
  ) {
    super();
  }

  async prepare({ matchId, afterUserId }: AnnounceCancellation): Promise<Page | undefined> {
    const match = await this.matches.find(matchId);
    return match && pageOf(match, afterUserId, this);
  }

  async work(tx: Transaction, job: AnnounceCancellation, page: Page | undefined): Promise<void> {
    if (!page) return;
    const afterUserId = await tellPage(tx, { kind: 'cancelled', match: page.match }, page, this);
    if (afterUserId) return this.jobs.put(tx, [{ ...job, afterUserId }]);
    const refunds: RefundMatch = { class: 'refund_match', matchId: job.matchId, afterOrderId: null, round: 0 };
    await this.jobs.put(tx, [refunds]);
  }
}

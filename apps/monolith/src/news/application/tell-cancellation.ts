import { JobHandler, type Jobs } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import type { AnnounceCancellation } from '#domain/notification/match-news';
import type { RefundMatch } from '#domain/purchase/refund';
import { FANS_A_PAGE, pageOf, type Page } from './page.ts';
import type { Holders, MatchMails, MatchPushes, News, NewsMatches } from './ports.ts';

/**
 * Tells a page of those who have a ticket that the match was cancelled, and has the next page told. After the last one the
 * refunds begin, and not before: whoever is refunded has no ticket any more, and would not be told why.
 */
export class TellCancellation extends JobHandler<AnnounceCancellation, Page | undefined> {
  readonly class = 'announce_cancellation';

  constructor(
    private readonly matches: NewsMatches,
    readonly holders: Holders,
    private readonly mails: MatchMails,
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
    const { match, holders, pushedTo } = page;
    const news: News = { kind: 'cancelled', match };
    await this.mails.send(tx, news, holders);
    if (pushedTo) await this.pushes.send(tx, news, pushedTo);
    const last = holders.at(-1);
    if (last && holders.length === FANS_A_PAGE) return this.jobs.put(tx, [{ ...job, afterUserId: last.userId }]);
    const refunds: RefundMatch = { class: 'refund_match', matchId: job.matchId, afterOrderId: null, round: 0 };
    await this.jobs.put(tx, [refunds]);
  }
}

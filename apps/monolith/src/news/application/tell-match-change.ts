import { JobHandler, type Jobs } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import type { AnnounceMatchChange } from '#domain/notification/match-news';
import { FANS_A_PAGE, type Page } from './page.ts';
import type { Holders, MatchMails, NewsMatches } from './ports.ts';

/** Tells a page of those who have a ticket that the match was moved, and has the next page told; nobody when it was cancelled since. */
export class TellMatchChange extends JobHandler<AnnounceMatchChange, Page | undefined> {
  readonly class = 'announce_match_change';

  constructor(
    private readonly matches: NewsMatches,
    private readonly holders: Holders,
    private readonly mails: MatchMails,
    private readonly jobs: Jobs,
  ) {
    super();
  }

  async prepare({ matchId, afterUserId }: AnnounceMatchChange): Promise<Page | undefined> {
    const match = await this.matches.find(matchId);
    if (!match || match.isCancelled) return undefined;
    return { match, holders: await this.holders.page(matchId, afterUserId, FANS_A_PAGE) };
  }

  async work(tx: Transaction, job: AnnounceMatchChange, page: Page | undefined): Promise<void> {
    if (!page) return;
    const { match, holders } = page;
    const { previousKickoffAt, previousVenue } = job;
    await this.mails.send(tx, { kind: 'moved', match, previousKickoffAt, previousVenue }, holders);
    const last = holders.at(-1);
    if (last && holders.length === FANS_A_PAGE) await this.jobs.put(tx, [{ ...job, afterUserId: last.userId }]);
  }
}

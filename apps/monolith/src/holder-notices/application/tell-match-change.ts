import { JobHandler, type Jobs } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import type { AnnounceMatchChange } from '#domain/notification/holder-notice';
import { pageOf, tellPage, type Page } from './page.ts';
import type { Holders, MatchMails, MatchPushes, HolderNotice, NoticeMatches } from './ports.ts';

/** Tells a page of those who have a ticket that the match was moved, and has the next page told; nobody when it was cancelled since. */
export class TellMatchChange extends JobHandler<AnnounceMatchChange, Page | undefined> {
  readonly class = 'announce_match_change';

  constructor(
    private readonly matches: NoticeMatches,
    readonly holders: Holders,
    readonly mails: MatchMails,
    readonly pushes: MatchPushes,
    private readonly jobs: Jobs,
  ) {
    super();
  }

  async prepare({ matchId, afterUserId }: AnnounceMatchChange): Promise<Page | undefined> {
    const match = await this.matches.find(matchId);
    if (!match || match.isCancelled) return undefined;
    return pageOf(match, afterUserId, this);
  }

  async work(tx: Transaction, job: AnnounceMatchChange, page: Page | undefined): Promise<void> {
    if (!page) return;
    const { previousKickoffAt, previousVenue } = job;
    const notice: HolderNotice = { kind: 'moved', match: page.match, previousKickoffAt, previousVenue };
    const afterUserId = await tellPage(tx, notice, page, this);
    if (afterUserId) await this.jobs.put(tx, [{ ...job, afterUserId }]);
  }
}

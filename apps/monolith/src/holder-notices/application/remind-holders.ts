import type { Clock } from '#application/clock';
import { JobHandler, type Jobs } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import { isReminderDue, type RemindFans } from '#domain/notification/holder-notice';
import { pageOf, tellPage, type Page } from './page.ts';
import type { Holders, MatchMails, MatchPushes, NoticeMatches } from './ports.ts';

/** Reminds a page of those who have a ticket, and has the next page reminded; nobody when the match was moved or cancelled meanwhile. */
export class RemindHolders extends JobHandler<RemindFans, Page | undefined> {
  readonly class = 'remind_fans';

  constructor(
    private readonly matches: NoticeMatches,
    readonly holders: Holders,
    readonly mails: MatchMails,
    readonly pushes: MatchPushes,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {
    super();
  }

  async prepare({ matchId, afterUserId }: RemindFans): Promise<Page | undefined> {
    const match = await this.matches.find(matchId);
    if (!match || match.isCancelled || !isReminderDue(match.kickoffAt, this.clock.now())) return undefined;
    return pageOf(match, afterUserId, this);
  }

  async work(tx: Transaction, job: RemindFans, page: Page | undefined): Promise<void> {
    if (!page) return;
    const afterUserId = await tellPage(tx, { kind: 'coming up', match: page.match }, page, this);
    if (afterUserId) await this.jobs.put(tx, [{ ...job, afterUserId }]);
  }
}

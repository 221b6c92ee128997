import type { Clock } from '#application/clock';
import { JobHandler, type Jobs } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import { isReminderDue, type RemindFans } from '#domain/notification/match-news';
import { FANS_A_PAGE, type Page } from './page.ts';
import type { Holders, MatchMails, NewsMatches } from './ports.ts';

/** Reminds a page of those who have a ticket, and has the next page reminded; nobody when the match was moved or cancelled meanwhile. */
export class RemindHolders extends JobHandler<RemindFans, Page | undefined> {
  readonly class = 'remind_fans';

  constructor(
    private readonly matches: NewsMatches,
    private readonly holders: Holders,
    private readonly mails: MatchMails,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {
    super();
  }

  async prepare({ matchId, afterUserId }: RemindFans): Promise<Page | undefined> {
    const match = await this.matches.find(matchId);
    if (!match || match.isCancelled || !isReminderDue(match.kickoffAt, this.clock.now())) return undefined;
    return { match, holders: await this.holders.page(matchId, afterUserId, FANS_A_PAGE) };
  }

  async work(tx: Transaction, job: RemindFans, page: Page | undefined): Promise<void> {
    if (!page) return;
    const { match, holders } = page;
    await this.mails.send(tx, { kind: 'coming up', match }, holders);
    const last = holders.at(-1);
    if (last && holders.length === FANS_A_PAGE) await this.jobs.put(tx, [{ ...job, afterUserId: last.userId }]);
  }
}

import type { CatalogApi, CatalogMatch } from '../../catalog/catalog.api.ts';
import type { PurchaseApi } from '../../purchase/purchase.api.ts';
import type { TicketingApi } from '../../ticketing/ticketing.api.ts';
import { Holders, NoticeMatches, type Holder, type NoticeMatch } from '../application/ports.ts';

const MATCHES_PER_READ = 100;
const HOLDERS_PER_READ = 10_000;

/** Reads the matches for notices from the catalogue context. */
export class CatalogNoticeMatches extends NoticeMatches {
  constructor(private readonly catalog: CatalogApi) {
    super();
  }

  async find(matchId: string): Promise<NoticeMatch | undefined> {
    const match = await this.catalog.match(matchId);
    return match && asNoticeMatch(match);
  }

  async comingUp(until: Date): Promise<readonly NoticeMatch[]> {
    const found: CatalogMatch[] = [];
    for (;;) {
      const page = await this.catalog.list({ after: found.at(-1)?.id, limit: MATCHES_PER_READ });
      found.push(...page);
      const last = page.at(-1);
      if (page.length < MATCHES_PER_READ || !last || last.kickoffAt > until) break;
    }
    const now = new Date();
    return found
      .filter(({ kickoffAt, cancelledAt }) => kickoffAt > now && kickoffAt <= until && cancelledAt === null)
      .map(asNoticeMatch);
  }
}

function asNoticeMatch({ id, home, away, venue, kickoffAt, cancelledAt, cancelReason }: CatalogMatch): NoticeMatch {
  return { id, name: `${home} vs ${away}`, venue, kickoffAt, isCancelled: cancelledAt !== null, cancelReason };
}

/** Joins the ticket holders from the ticketing context with their order addresses from the purchase context. */
export class TicketHolders extends Holders {
  constructor(
    private readonly ticketing: TicketingApi,
    private readonly purchase: PurchaseApi,
  ) {
    super();
  }

  async page(matchId: string, afterUserId: string | null, limit: number): Promise<readonly Holder[]> {
    const holders = await this.ticketing.holders(matchId, { after: afterUserId, limit });
    const userIds = holders.map(({ userId }) => userId);
    const addresses = await this.purchase.addresses(matchId, userIds);
    return holders.map((holder) => ({ ...holder, orderEmail: addresses.get(holder.userId) ?? null }));
  }

  async allUserIds(matchId: string): Promise<readonly string[]> {
    const userIds: string[] = [];
    for (;;) {
      const holders = await this.ticketing.holders(matchId, { after: userIds.at(-1) ?? null, limit: HOLDERS_PER_READ });
      userIds.push(...holders.map(({ userId }) => userId));
      if (holders.length < HOLDERS_PER_READ) return userIds;
    }
  }
}

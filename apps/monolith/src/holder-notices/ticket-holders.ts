import type { PurchaseApi } from '../purchase/purchase.api.ts';
import type { TicketHolder, TicketingApi } from '../ticketing/ticketing.api.ts';

const HOLDERS_PER_READ = 10_000;

/** A fan with valid or used tickets for a match, and the seats of these tickets. */
export interface Holder extends TicketHolder {
  /** The address to which the tickets were sent; null for a fan who only received a transferred ticket. */
  readonly orderEmail: string | null;
}

/** Joins the ticket holders from the ticketing context with their order addresses from the purchase context. */
export class TicketHolders {
  constructor(
    private readonly ticketing: TicketingApi,
    private readonly purchase: PurchaseApi,
  ) {}

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

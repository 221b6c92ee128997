import type { Transaction } from '#application/transaction-manager';
import { blacklisted } from '#domain/blacklist/blacklist-rules';
import { assertWithinLimit } from '#domain/purchase/buying-rules';
import type { BlacklistApi } from '../blacklist/blacklist.api.ts';
import type { FansApi } from '../fans/fans.api.ts';
import type { PurchaseApi } from '../purchase/purchase.api.ts';
import type { TicketOffer } from '../ticketing/ticket-offers.api.ts';
import type { TicketingApi } from '../ticketing/ticketing.api.ts';

/** What must be true of a fan who accepts a ticket. */
export class Receivers {
  constructor(
    private readonly fans: FansApi,
    private readonly blacklist: BlacklistApi,
    private readonly purchase: PurchaseApi,
    private readonly ticketing: TicketingApi,
  ) {}

  /** The name in the fan's profile. */
  async nameOf(userId: string): Promise<string | null> {
    return (await this.fans.find(userId)).name;
  }

  async assertNotBlacklisted(tx: Transaction, userId: string): Promise<void> {
    if ((await this.blacklist.listed(tx, [userId])).has(userId)) throw blacklisted('You may not receive tickets.');
  }

  /**
   * Counts the offered ticket for the fan, and refuses it above the limit. A ticket that comes back to a fan who had it before still
   * counts for this fan, so it is not counted again.
   */
  async count(tx: Transaction, offer: TicketOffer, { userId, limit }: { userId: string; limit: number }): Promise<void> {
    const { matchId, orderId, seatId } = offer;
    if (await this.ticketing.everHad(tx, { userId, orderId, seatId })) return;
    const taken = await this.purchase.countAccepted(tx, { matchId, orderId, userId });
    if (taken !== undefined) assertWithinLimit({ limit, taken, wanted: 1 });
  }
}

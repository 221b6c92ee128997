import type { Transaction } from '#application/transaction-manager';
import type { BlacklistApi } from '../../blacklist/blacklist.api.ts';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import type { PurchaseApi } from '../../purchase/purchase.api.ts';
import type { TicketingApi } from '../../ticketing/ticketing.api.ts';
import { Blacklist, FanLimits, Tickets, type GivenTicket } from '../application/ports.ts';

/** Tickets are ticketing's, how many a fan may have is the catalogue's, how many they have the purchase's. */
export class NeighbourTickets extends Tickets {
  constructor(private readonly ticketing: TicketingApi) {
    super();
  }
  lock(tx: Transaction, ticketId: string, userId: string): Promise<GivenTicket | undefined> {
    return this.ticketing.lock(tx, ticketId, userId);
  }
  handOver(tx: Transaction, ticketId: string, to: { userId: string; holderName: string; from: string }): Promise<void> {
    return this.ticketing.handOver(tx, ticketId, to);
  }
}

export class NeighbourLimits extends FanLimits {
  constructor(
    private readonly catalog: CatalogApi,
    private readonly purchase: PurchaseApi,
  ) {
    super();
  }
  async ofMatch(tx: Transaction, matchId: string): Promise<number> {
    const match = await this.catalog.match(matchId, tx);
    if (!match) throw new Error(`a ticket of match ${matchId}, which does not exist`);
    return match.maxTicketsPerFan;
  }
  handOver(tx: Transaction, change: { matchId: string; from: string; to: string }): Promise<number> {
    return this.purchase.handOver(tx, change);
  }
}

export class NeighbourBlacklist extends Blacklist {
  constructor(private readonly blacklist: BlacklistApi) {
    super();
  }
  async has(tx: Transaction, userId: string): Promise<boolean> {
    return (await this.blacklist.listed(tx, [userId])).has(userId);
  }
}

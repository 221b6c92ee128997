import type { Transaction } from '#application/transaction-manager';
import type { BlacklistApi } from '../../blacklist/blacklist.api.ts';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import type { PurchaseApi } from '../../purchase/purchase.api.ts';
import type { TicketingApi } from '../../ticketing/ticketing.api.ts';
import { Blacklist, FanLimits, Tickets, type TransferableTicket } from '../application/ports.ts';

// The transfer context owns no data. The adapters in this file implement its ports by calling ticketing, the catalogue, purchase
// and the blacklist.

/** The tickets, in the ticketing context. */
export class DelegatingTickets extends Tickets {
  constructor(private readonly ticketing: TicketingApi) {
    super();
  }
  lock(tx: Transaction, ticketId: string, userId: string): Promise<TransferableTicket | undefined> {
    return this.ticketing.lock(tx, ticketId, userId);
  }
  handOver(tx: Transaction, ticketId: string, to: { userId: string; holderName: string; from: string }): Promise<void> {
    return this.ticketing.handOver(tx, ticketId, to);
  }
}

/** The limits per fan: the limit from the catalogue context, the seats of each fan from the purchase context. */
export class DelegatingLimits extends FanLimits {
  constructor(
    private readonly catalog: CatalogApi,
    private readonly purchase: PurchaseApi,
  ) {
    super();
  }
  async ofMatch(tx: Transaction, matchId: string): Promise<number> {
    const match = await this.catalog.match(matchId, tx);
    if (!match) throw new Error(`a ticket exists for the unknown match ${matchId}`);
    return match.maxTicketsPerFan;
  }
  handOver(tx: Transaction, change: { matchId: string; from: string; to: string }): Promise<number> {
    return this.purchase.handOver(tx, change);
  }
}

/** The blacklist, read from the database in the transaction of the transfer. */
export class DelegatingBlacklist extends Blacklist {
  constructor(private readonly blacklist: BlacklistApi) {
    super();
  }
  async has(tx: Transaction, userId: string): Promise<boolean> {
    return (await this.blacklist.listed(tx, [userId])).has(userId);
  }
}

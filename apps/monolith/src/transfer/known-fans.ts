import type { Transaction } from '#application/transaction-manager';
import type { FansApi } from '../fans/fans.api.ts';
import type { PurchaseApi } from '../purchase/purchase.api.ts';
import type { TicketingApi } from '../ticketing/ticketing.api.ts';

/** Which user ids are fans of ours. The identity provider has the accounts, so we know a fan by what the fan has done here. */
export class KnownFans {
  constructor(
    private readonly fans: FansApi,
    private readonly purchase: PurchaseApi,
    private readonly ticketing: TicketingApi,
  ) {}

  /** True if the fan has stored a profile or a device, or ever held a seat or a ticket. */
  async has(tx: Transaction, userId: string): Promise<boolean> {
    if (await this.fans.isKnown(tx, userId)) return true;
    return (await this.purchase.isBuyer(tx, userId)) || this.ticketing.isHolder(tx, userId);
  }
}

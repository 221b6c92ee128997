import type { Ids } from '#application/ids';
import type { Outbox } from '#application/outbox';
import type { TransactionManager } from '#application/transaction-manager';
import { type SaleStatus } from '#domain/catalog/sale';
import { saleStatusAfterSeats } from '#domain/catalog/sale-changes';
import type { CatalogApi } from '../catalog/catalog.api.ts';
import type { PurchaseApi } from '../purchase/purchase.api.ts';
import type { WaitingRoomApi } from '../waiting-room/waiting-room.api.ts';

/**
 * Ends a sale when no seat is free or held, and reopens it when seats came back. The caller decides by a count that may be stale,
 * so the seats are read again in the transaction that changes the sale. If another transaction changes a seat at the same time,
 * SERIALIZABLE makes one of the two transactions run again. The message to the waiting room commits with the change, so a crash
 * delays it but does not lose it. Under the queue lock no operator changes the same match at the same time.
 */
export class EndOrReopenSale {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly catalog: CatalogApi,
    private readonly purchase: PurchaseApi,
    private readonly waitingRoom: WaitingRoomApi,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
  ) {}

  /** Returns the state of the sale after the check; undefined if the match does not exist. */
  execute(matchId: string): Promise<SaleStatus | undefined> {
    return this.waitingRoom.withQueueLock(matchId, () =>
      this.transactions.run(async (tx) => {
        const match = await this.catalog.match(matchId, tx);
        if (!match) return undefined;
        const saleStatus = saleStatusAfterSeats(match.saleStatus, await this.purchase.hasSeatsLeft(tx, matchId));
        if (saleStatus === match.saleStatus) return saleStatus;
        await this.catalog.update(tx, matchId, { saleStatus });
        if (match.queueRequired) {
          const event = saleStatus === 'sold_out' ? 'match.sold_out' : 'match.reopened';
          const body = { kind: 'sync', match_id: matchId };
          await this.outbox.append(tx, [{ id: this.ids.next(), destination: 'waiting-room', event, aggregateId: matchId, body }]);
        }
        return saleStatus;
      }),
    );
  }
}

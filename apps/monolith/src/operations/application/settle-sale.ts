import type { Ids } from '#application/ids';
import type { Outbox } from '#application/outbox';
import type { TransactionManager } from '#application/transaction-manager';
import { afterSeats, type SaleStatus } from '#domain/catalog/sale';
import type { Catalog, Queues, Seats } from './ports.ts';

/**
 * Ends a sale when nothing is free and nothing held, and opens it again when seats came back. Somebody who looked thinks so; here
 * the seats themselves are asked, in the transaction that changes the sale, and a seat that moves meanwhile lets one of the two
 * transactions run again. What the waiting room must hear commits with it: a crash afterwards delays it and loses nothing. Alone
 * among the changes of this match, so that an operator's is not in the middle of it.
 */
export class SettleSale {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly catalog: Catalog,
    private readonly seats: Seats,
    private readonly queues: Queues,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
  ) {}

  /** Returns the state the sale is in now; undefined when there is no such match. */
  execute(matchId: string): Promise<SaleStatus | undefined> {
    return this.queues.exclusively(matchId, () =>
      this.transactions.run(async (tx) => {
        const match = await this.catalog.match(matchId, tx);
        if (!match) return undefined;
        const saleStatus = afterSeats(match.saleStatus, await this.seats.anyLeft(tx, matchId));
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

import type { Transaction } from '#application/transaction-manager';
import type { Reservations } from '../../hold/application/reservation-ports.ts';
import type { CompletedOrder, OrderConsequences, Orders } from './ports.ts';

/** The last step in completing an order, whether it was paid or is free. */
export class CompleteOrders {
  constructor(
    private readonly orders: Orders,
    private readonly reservations: Reservations,
    private readonly consequences: OrderConsequences,
  ) {}

  /**
   * Call this after the seats are sold and the holds completed. Sets the orders to completed with all consequences, and releases
   * the unpaid holds of the same turns, because a turn allows one order. `events` are added to the timeline of each order.
   */
  async finish(tx: Transaction, completed: readonly CompletedOrder[], events: readonly string[]): Promise<void> {
    const orderIds = completed.map(({ order }) => order.id);
    await this.orders.setStatus(tx, orderIds, 'completed', events);
    await this.consequences.completed(tx, completed);
    const sessionTokens = completed.flatMap(({ reservation }) => reservation.sessionToken ?? []);
    for (const unpaidId of sessionTokens.length > 0 ? await this.reservations.unpaidInWindows(tx, sessionTokens) : []) {
      await this.reservations.setStatus(tx, unpaidId, 'released');
      await this.reservations.freeSeats(tx, unpaidId);
    }
  }
}

import type { Transaction } from '#application/transaction-manager';
import type { Reservations } from '../../hold/application/reservation-ports.ts';
import type { CompletedOrder, OrderConsequences, Orders } from './ports.ts';

/** Ends orders as completed, whether they were paid or cost nothing. */
export class CompleteOrders {
  constructor(
    private readonly orders: Orders,
    private readonly reservations: Reservations,
    private readonly consequences: OrderConsequences,
  ) {}

  /** What is left to do once the seats are sold and the holds completed. `events`: what the timeline of each order says. */
  async conclude(tx: Transaction, completed: readonly CompletedOrder[], events: readonly string[]): Promise<void> {
    const orderIds = completed.map(({ order }) => order.id);
    await this.orders.setStatus(tx, orderIds, 'completed', events);
    await this.consequences.completed(tx, completed);
    const windows = completed.flatMap(({ reservation }) => reservation.sessionToken ?? []);
    for (const other of windows.length > 0 ? await this.reservations.unpaidInWindows(tx, windows) : []) {
      await this.reservations.setStatus(tx, other, 'released');
      await this.reservations.freeSeats(tx, other);
    }
  }
}

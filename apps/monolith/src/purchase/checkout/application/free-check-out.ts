import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { Reservation } from '../../application/ports.ts';
import type { Order } from '../../application/sale-ports.ts';
import type { Reservations } from '../../hold/application/reservation-ports.ts';
import { CompleteOrders } from './complete-orders.ts';
import type { CheckedOut, CheckOutCommand, PlaceOrders } from './place-orders.ts';
import type { OrderConsequences, Orders } from './ports.ts';

/** True for a hold with a total of 0 cents: its order needs no payment. */
export const costsNothing = ({ totalCents }: Pick<Reservation, 'totalCents'>): boolean => totalCents === 0;

/** Places and completes the order of a free hold. The answer to the fan is stored in the same transaction. */
export class FreeCheckOut {
  readonly execute: (command: CheckOutCommand) => Promise<CheckedOut>;
  private readonly completeOrders: CompleteOrders;

  constructor(
    transactions: TransactionManager,
    private readonly placeOrders: PlaceOrders,
    private readonly reservations: Reservations,
    private readonly orders: Orders,
    consequences: OrderConsequences,
  ) {
    this.completeOrders = new CompleteOrders(orders, reservations, consequences);
    this.execute = transactions.together({
      many: (tx, commands) => this.checkOutMany(tx, commands),
      one: (tx, command) => this.checkOut(tx, command),
    });
  }

  private async checkOut(tx: Transaction, command: CheckOutCommand): Promise<CheckedOut> {
    const reservation = await this.placeOrders.lock(tx, command);
    const existing = reservation.status === 'completed' && (await this.orders.lockOfReservation(tx, reservation.id));
    if (existing) return { order: existing, isNew: existing.placedWithKey === command.key };
    const { order, isNew } = await this.placeOrders.place(tx, command, reservation);
    const hasSeats =
      (await this.reservations.staysCounted(tx, reservation)) && (await this.reservations.sellSeats(tx, reservation));
    // The hold expired during this transaction, and another fan has one of its seats.
    if (!hasSeats) throw new DomainError('RESERVATION_EXPIRED', 'This reservation has expired; its seats are for sale again.');
    await this.reservations.setStatus(tx, reservation.id, 'completed');
    await this.completeOrders.finish(tx, [{ order, reservation }], ['completed']);
    return { order: completed(order), isNew };
  }

  private async checkOutMany(
    tx: Transaction,
    commands: readonly CheckOutCommand[],
  ): Promise<readonly (CheckedOut | undefined)[]> {
    const simple = this.placeOrders.selectSimple(commands, await this.placeOrders.lockMany(tx, commands));
    // Lock all seats before any order is placed: an order that this transaction places must be completed in this transaction.
    const holds = simple.map(({ reservation }) => reservation);
    const lockedIds = await this.reservations.lockComplete(tx, holds);
    const locked = simple.filter(({ reservation }) => lockedIds.has(reservation.id));
    const placed = await this.placeOrders.placeSimple(tx, locked);
    if (placed.size > 0) {
      const orders = [...placed.values()];
      const ordered = orders.map(({ reservation }) => reservation);
      const sold = await this.reservations.complete(tx, ordered);
      if (sold.size < orders.length) throw new Error('seats that are locked and held by their reservation were not sold');
      await this.completeOrders.finish(tx, orders, ['completed']);
    }
    return commands.map((command) => {
      const checkOut = placed.get(command);
      return checkOut && { order: completed(checkOut.order), isNew: true };
    });
  }
}

function completed(order: Order): Order {
  return { ...order, status: 'completed' };
}

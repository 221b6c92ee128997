import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { Order, Reservation } from '../../application/ports.ts';
import type { Reservations } from '../../hold/application/reservation-ports.ts';
import { CompleteOrders } from './complete-orders.ts';
import type { CheckedOut, CheckOutCommand, PlaceOrders } from './place-orders.ts';
import type { OrderConsequences, Orders } from './ports.ts';

/** Every seat of this hold is given away: its order needs no payment provider. */
export const isFree = ({ totalCents }: Pick<Reservation, 'totalCents'>): boolean => totalCents === 0;

/** Places and completes the order of a hold that costs nothing, in one transaction with the answer to its fan. */
export class FreeCheckOut {
  readonly execute: (command: CheckOutCommand) => Promise<CheckedOut>;
  private readonly completing: CompleteOrders;

  constructor(
    transactions: TransactionManager,
    private readonly placing: PlaceOrders,
    private readonly reservations: Reservations,
    private readonly orders: Orders,
    consequences: OrderConsequences,
  ) {
    this.completing = new CompleteOrders(orders, reservations, consequences);
    this.execute = transactions.together({
      many: (tx, commands) => this.checkOutMany(tx, commands),
      one: (tx, command) => this.checkOut(tx, command),
    });
  }

  private async checkOut(tx: Transaction, command: CheckOutCommand): Promise<CheckedOut> {
    const reservation = await this.placing.lock(tx, command);
    const existing = reservation.status === 'completed' && (await this.orders.lockOfReservation(tx, reservation.id));
    if (existing) return { order: existing, isNew: existing.placedWithKey === command.key };
    const { order, isNew } = await this.placing.place(tx, command, reservation);
    const hasSeats =
      (await this.reservations.staysCounted(tx, reservation)) && (await this.reservations.sellSeats(tx, reservation));
    // It ended while this transaction was under way, and somebody else has a seat of it.
    if (!hasSeats) throw new DomainError('RESERVATION_EXPIRED', 'This reservation has expired; its seats are for sale again.');
    await this.reservations.setStatus(tx, reservation.id, 'completed');
    await this.completing.conclude(tx, [{ order, reservation }], ['completed']);
    return { order: completed(order), isNew };
  }

  private async checkOutMany(
    tx: Transaction,
    commands: readonly CheckOutCommand[],
  ): Promise<readonly (CheckedOut | undefined)[]> {
    const plain = this.placing.plainOf(commands, await this.placing.lockMany(tx, commands));
    // First: an order that is placed here is completed here.
    const whole = await this.reservations.lockWhole(
      tx,
      plain.map(({ reservation }) => reservation),
    );
    const placed = await this.placing.placePlain(
      tx,
      plain.filter(({ reservation }) => whole.has(reservation.id)),
    );
    if (placed.size > 0) {
      const orders = [...placed.values()];
      const sold = await this.reservations.complete(
        tx,
        orders.map(({ reservation }) => reservation),
      );
      if (sold.size < orders.length) throw new Error('seats that are locked and held by their reservation were not sold');
      await this.completing.conclude(tx, orders, ['completed']);
    }
    return commands.map((command) => {
      const made = placed.get(command);
      return made && { order: completed(made.order), isNew: true };
    });
  }
}

function completed(order: Order): Order {
  return { ...order, status: 'completed' };
}

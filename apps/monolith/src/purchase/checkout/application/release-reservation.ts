import type { TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import { releaseAction } from '#domain/purchase/reservation';
import type { Reservation } from '../../application/ports.ts';
import type { Reservations } from '../../hold/application/reservation-ports.ts';
import type { OrderConsequences, Orders } from './ports.ts';

/**
 * Releases a fan's hold: its seats are for sale at once. If the hold has an order that awaits payment, cancels the order and its
 * intent.
 */
export class ReleaseReservation {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly reservations: Reservations,
    private readonly orders: Orders,
    private readonly consequences: OrderConsequences,
  ) {}

  /** Returns the reservation as it was before the release. */
  execute(command: { reservationId: string; userId: string }): Promise<Reservation> {
    return this.transactions.run(async (tx) => {
      const reservation = await this.reservations.lock(tx, command.reservationId, command.userId);
      if (!reservation) throw new DomainError('NOT_FOUND', 'There is no such reservation.');
      if (releaseAction(reservation.status) === 'nothing left to do') return reservation;
      await this.reservations.setStatus(tx, reservation.id, 'released');
      await this.reservations.freeSeats(tx, reservation.id);
      const order = reservation.status === 'ordered' ? await this.orders.lockOfReservation(tx, reservation.id) : undefined;
      if (order?.status !== 'awaiting_payment') return reservation;
      await this.orders.setStatus(tx, [order.id], 'cancelled', ['cancelled']);
      await this.orders.giveUpWindow(tx, order);
      await this.consequences.cancelled(tx, order);
      return reservation;
    });
  }
}

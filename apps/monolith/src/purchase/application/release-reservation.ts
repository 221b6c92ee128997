import type { Clock } from '#application/clock';
import type { TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import { releaseOf, reservationStatusAt } from '#domain/purchase/reservation';
import type { OrderConsequences, Orders, Reservations } from './ports.ts';

/** Gives a fan's held seats back, at once; an order that was being paid is cancelled with its intent. */
export class ReleaseReservation {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly reservations: Reservations,
    private readonly orders: Orders,
    private readonly consequences: OrderConsequences,
    private readonly clock: Clock,
  ) {}

  async execute(command: { reservationId: string; userId: string }): Promise<void> {
    await this.transactions.run(async (tx) => {
      const reservation = await this.reservations.lock(tx, command.reservationId, command.userId);
      if (!reservation) throw new DomainError('NOT_FOUND', 'There is no such reservation.');
      const status = reservationStatusAt(reservation.status, reservation.expiresAt, this.clock.now());
      if (releaseOf(status) === 'nothing left to do') return;
      await this.reservations.setStatus(tx, reservation.id, 'released');
      await this.reservations.freeSeats(tx, reservation.id);
      const order = await this.orders.ofReservation(tx, reservation.id);
      if (order?.status !== 'awaiting_payment') return;
      await this.orders.setStatus(tx, order.id, 'cancelled', ['cancelled']);
      await this.consequences.cancelled(tx, order);
    });
  }
}

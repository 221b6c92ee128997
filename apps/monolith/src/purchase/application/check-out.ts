import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import { assertHoldersMatch, orderNumber } from '#domain/purchase/order';
import { assertCheckoutAllowed, reservationStatusAt } from '#domain/purchase/reservation';
import type { Order, Orders, Payments, Reservation, Reservations } from './ports.ts';

export interface CheckOutCommand {
  readonly reservationId: string;
  readonly userId: string;
  readonly holders: readonly { seatId: string; name: string }[];
  readonly email: string;
}

export interface CheckedOut {
  readonly order: Order;
  /** False when this reservation had its order already: it is the same one. */
  readonly isNew: boolean;
}

/**
 * Makes an order of a hold and asks for its payment, in three steps that may each be repeated: the order (committed),
 * the intent at the provider (same order, same intent), the intent on the order (committed with the answer).
 */
export class CheckOut {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly reservations: Reservations,
    private readonly orders: Orders,
    private readonly payments: Payments,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  async execute(command: CheckOutCommand): Promise<CheckedOut> {
    const { order, isNew } = await this.transactions.runStep((tx) => this.placeOrder(tx, command));
    const intent = order.payment.intentId
      ? undefined
      : await this.payments.createIntent({ orderId: order.id, amountCents: order.totalCents, currency: order.currency });
    return this.transactions.run(async (tx) => {
      if (!intent) return { order, isNew };
      const payment: Order['payment'] = {
        provider: intent.provider,
        intentId: intent.intentId,
        clientSecret: intent.clientSecret,
        confirmUrl: intent.confirmUrl ?? null,
      };
      await this.orders.setIntent(tx, order.id, payment);
      return { order: { ...order, payment }, isNew };
    });
  }

  private async placeOrder(tx: Transaction, command: CheckOutCommand): Promise<CheckedOut> {
    const reservation = await this.reservations.lock(tx, command.reservationId, command.userId);
    if (!reservation) throw new DomainError('NOT_FOUND', 'There is no such reservation.');
    assertCheckoutAllowed(reservationStatusAt(reservation.status, reservation.expiresAt, this.clock.now()));
    const existing = await this.orders.ofReservation(tx, reservation.id);
    if (existing) return { order: existing, isNew: false };
    assertHoldersMatch(
      reservation.seats.map(({ seatId }) => seatId),
      command.holders.map(({ seatId }) => seatId),
    );
    await this.assertWindowIsFree(tx, reservation);
    const order = await this.newOrder(tx, reservation, command);
    await this.orders.add(tx, order);
    await this.reservations.setStatus(tx, reservation.id, 'ordered');
    return { order, isNew: true };
  }

  private async assertWindowIsFree(tx: Transaction, reservation: Reservation): Promise<void> {
    if (!reservation.sessionToken) return;
    const rival = await this.orders.rivalInWindow(tx, reservation.sessionToken, reservation.id);
    if (!rival) return;
    throw new DomainError('INVALID_STATE', 'One order a turn: another one of this turn is being paid or was paid.', { order_id: rival.id });
  }

  private async newOrder(tx: Transaction, reservation: Reservation, command: CheckOutCommand): Promise<Order> {
    return {
      id: this.ids.next(),
      number: orderNumber(this.clock.now().getUTCFullYear(), await this.orders.nextNumber(tx)),
      matchId: reservation.matchId,
      reservationId: reservation.id,
      userId: reservation.userId,
      sessionToken: reservation.sessionToken,
      status: 'awaiting_payment',
      totalCents: reservation.totalCents,
      currency: reservation.currency,
      email: command.email,
      holders: command.holders,
      payment: { provider: 'none', intentId: null, clientSecret: null, confirmUrl: null },
    };
  }
}

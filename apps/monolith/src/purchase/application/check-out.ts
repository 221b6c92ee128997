import type { Ids } from '#application/ids';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import { assertHoldersMatch } from '#domain/purchase/order';
import { assertCheckoutAllowed } from '#domain/purchase/reservation';
import type { Order, OrderConsequences, Orders, Payments, Reservation, Reservations } from './ports.ts';

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

/** The hold ended while the provider was asked: nobody may pay this order any more. */
class OrderOver extends Error {
  constructor(readonly order: Order) {
    super('the order is over');
  }
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
    private readonly consequences: OrderConsequences,
    private readonly ids: Ids,
  ) {}

  async execute(command: CheckOutCommand): Promise<CheckedOut> {
    const { order, isNew } = await this.transactions.runStep((tx) => this.placeOrder(tx, command));
    if (order.payment.intentId) return this.transactions.run(() => Promise.resolve({ order, isNew }));
    const {
      provider,
      intentId,
      clientSecret,
      confirmUrl = null,
    } = await this.payments.createIntent({
      orderId: order.id,
      amountCents: order.totalCents,
      currency: order.currency,
    });
    const payment = { provider, intentId, clientSecret, confirmUrl };
    try {
      return await this.transactions.run(async (tx) => ({ order: await this.withIntent(tx, order, payment), isNew }));
    } catch (error) {
      if (error instanceof OrderOver) await this.takeIntentBack(error.order, payment);
      throw error;
    }
  }

  private async placeOrder(tx: Transaction, command: CheckOutCommand): Promise<CheckedOut> {
    const reservation = await this.reservations.lock(tx, command.reservationId, command.userId);
    if (!reservation) throw new DomainError('NOT_FOUND', 'There is no such reservation.');
    assertCheckoutAllowed(reservation.status);
    const existing = reservation.status === 'ordered' ? await this.orders.lockOfReservation(tx, reservation.id) : undefined;
    if (existing) return { order: existing, isNew: false };
    assertHoldersMatch(
      reservation.seats.map(({ seatId }) => seatId),
      command.holders.map(({ seatId }) => seatId),
    );
    const order = await this.newOrder(tx, reservation, command);
    if (!(await this.orders.add(tx, order))) {
      await this.endLapsedOrder(tx, reservation.sessionToken ?? '');
      await this.orders.add(tx, order);
    }
    await this.reservations.setStatus(tx, reservation.id, 'ordered');
    return { order, isNew: true };
  }

  /** The window has an order. If its hold is over it only waits for the scheduler, and this fan need not. */
  private async endLapsedOrder(tx: Transaction, sessionToken: string): Promise<void> {
    const rival = await this.orders.inWindow(tx, sessionToken);
    const hold = rival && (await this.reservations.lock(tx, rival.reservationId));
    const order = rival && (await this.orders.lock(tx, rival.id));
    if (hold?.status !== 'expired' || order?.status !== 'awaiting_payment') {
      throw new DomainError('INVALID_STATE', 'One order a turn: another one of this turn is being paid or was paid.', {
        order_id: rival?.id,
      });
    }
    await this.orders.setStatus(tx, order.id, 'expired', ['expired']);
    await this.orders.giveUpWindow(tx, order);
  }

  private async newOrder(tx: Transaction, reservation: Reservation, command: CheckOutCommand): Promise<Order> {
    return {
      id: this.ids.next(),
      number: await this.orders.nextNumber(tx),
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

  /** A payment may have come before this; then the order is already completed, and that is its answer. */
  private async withIntent(tx: Transaction, { id }: Order, payment: Order['payment']): Promise<Order> {
    const order = await this.orders.lock(tx, id);
    if (!order) throw new Error(`order ${id} is gone`);
    if (order.status === 'cancelled' || order.status === 'expired') throw new OrderOver(order);
    await this.orders.setIntent(tx, id, payment);
    return { ...order, payment };
  }

  /** Kept on the order all the same: who pays in spite of it has a payment that can be told whose it is. */
  private async takeIntentBack(order: Order, payment: Order['payment']): Promise<never> {
    await this.transactions.runStep(async (tx) => {
      await this.orders.setIntent(tx, order.id, payment);
      await this.consequences.cancelled(tx, { ...order, payment });
    });
    if (order.status === 'expired')
      throw new DomainError('RESERVATION_EXPIRED', 'This reservation has expired; its seats are for sale again.');
    throw new DomainError('INVALID_STATE', 'This reservation was given back meanwhile.', { status: 'released' });
  }
}

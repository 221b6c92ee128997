import type { Ids } from '#application/ids';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { blacklisted } from '#domain/blacklist/listed-fans';
import { DomainError } from '#domain/shared/domain-error';
import { assertHoldersMatch, holdersMatch } from '#domain/purchase/order';
import { assertCheckoutAllowed } from '#domain/purchase/reservation';
import { firstOfEach } from './first-of-each.ts';
import type { Order, OrderConsequences, Orders, Payments, Reservation, Reservations } from './ports.ts';

export interface CheckOutCommand {
  readonly reservationId: string;
  readonly userId: string;
  readonly holders: readonly { seatId: string; name: string }[];
  readonly email: string;
  /** Of the request. Sent again after it broke off, it finds the order it made, and is still what made it. */
  readonly key?: string | undefined;
}

export interface CheckedOut {
  readonly order: Order;
  /** False when a checkout with another key made the order of this reservation. */
  readonly isNew: boolean;
}

interface AskedForPayment extends CheckedOut {
  readonly payment: Order['payment'];
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
  private readonly place: (command: CheckOutCommand) => Promise<CheckedOut>;
  private readonly record: (asked: AskedForPayment) => Promise<CheckedOut>;

  constructor(
    private readonly transactions: TransactionManager,
    private readonly reservations: Reservations,
    private readonly orders: Orders,
    private readonly payments: Payments,
    private readonly consequences: OrderConsequences,
    private readonly ids: Ids,
  ) {
    this.place = transactions.stepTogether({
      many: (tx, commands) => this.placeMany(tx, commands),
      one: (tx, command) => this.placeOrder(tx, command),
    });
    this.record = transactions.together({
      many: (tx, asked) => this.recordMany(tx, asked),
      one: (tx, asked) => this.withIntent(tx, asked),
    });
  }

  async execute(command: CheckOutCommand): Promise<CheckedOut> {
    const { order, isNew } = await this.place(command);
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
      return await this.record({ order, isNew, payment });
    } catch (error) {
      if (error instanceof OrderOver) await this.takeIntentBack(error.order, payment);
      throw error;
    }
  }

  private async placeOrder(tx: Transaction, command: CheckOutCommand): Promise<CheckedOut> {
    const reservation = await this.reservations.lock(tx, command.reservationId, command.userId);
    if (!reservation) throw new DomainError('NOT_FOUND', 'There is no such reservation.');
    if ((await this.orders.barred(tx, [reservation.userId])).size > 0) throw blacklisted();
    assertCheckoutAllowed(reservation.status);
    const existing = reservation.status === 'ordered' ? await this.orders.lockOfReservation(tx, reservation.id) : undefined;
    if (existing) return { order: existing, isNew: existing.placedWithKey === command.key };
    assertHoldersMatch(seatsOf(reservation), seatsOf({ seats: command.holders }));
    const [number = ''] = await this.orders.nextNumbers(tx, 1);
    const order = this.newOrder(reservation, command, number);
    if ((await this.orders.place(tx, [order])).size === 0) {
      await this.endLapsedOrder(tx, reservation.sessionToken ?? '');
      await this.orders.place(tx, [order]);
    }
    return { order, isNew: true };
  }

  /** Plain is a living hold that has no order yet, checked out by its fan with its seats, in a window without an order. */
  private async placeMany(tx: Transaction, commands: readonly CheckOutCommand[]): Promise<readonly (CheckedOut | undefined)[]> {
    const [free, barred, numbers] = await Promise.all([
      this.reservations.lockFree(
        tx,
        commands.map(({ reservationId }) => reservationId),
      ),
      this.orders.barred(
        tx,
        commands.map(({ userId }) => userId),
      ),
      // A number more or less: those of orders that do not come to be are missing anyway.
      this.orders.nextNumbers(tx, commands.length),
    ]);
    const plain = firstOfEach(commands, ({ reservationId }) => reservationId).flatMap((command) => {
      const reservation = free.get(command.reservationId);
      const isPlain =
        reservation?.userId === command.userId &&
        reservation.status === 'held' &&
        !barred.has(command.userId) &&
        holdersMatch(seatsOf(reservation), seatsOf({ seats: command.holders }));
      return isPlain ? [{ command, reservation }] : [];
    });
    if (plain.length === 0) return commands.map(() => undefined);
    const orders = plain.map(({ command, reservation }, index) => this.newOrder(reservation, command, numbers[index] ?? ''));
    const placed = await this.orders.place(tx, orders);
    const byCommand = new Map(plain.map(({ command }, index) => [command, orders[index]]));
    return commands.map((command) => {
      const order = byCommand.get(command);
      return order && placed.has(order.id) ? { order, isNew: true } : undefined;
    });
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
    await this.orders.setStatus(tx, [order.id], 'expired', ['expired']);
    await this.orders.giveUpWindow(tx, order);
  }

  private newOrder(reservation: Reservation, command: CheckOutCommand, number: string): Order {
    return {
      id: this.ids.next(),
      number,
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
      placedWithKey: command.key ?? null,
    };
  }

  /** A payment may have come before this; then the order is already completed, and that is its answer. */
  private async withIntent(tx: Transaction, { order: { id }, isNew, payment }: AskedForPayment): Promise<CheckedOut> {
    const order = await this.orders.lock(tx, id);
    if (!order) throw new Error(`order ${id} is gone`);
    if (order.status === 'cancelled' || order.status === 'expired') throw new OrderOver(order);
    await this.orders.setIntent(tx, id, payment);
    return { order: { ...order, payment }, isNew };
  }

  /** Plain is an order that still awaits its payment. */
  private async recordMany(tx: Transaction, asked: readonly AskedForPayment[]): Promise<readonly (CheckedOut | undefined)[]> {
    const first = firstOfEach(asked, ({ order }) => order.id);
    const recorded = await this.orders.setFirstIntents(
      tx,
      first.map(({ order, payment }) => ({ orderId: order.id, payment })),
    );
    const plain = new Set(first.filter(({ order }) => recorded.has(order.id)));
    return asked.map((one) => (plain.has(one) ? { order: { ...one.order, payment: one.payment }, isNew: one.isNew } : undefined));
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

function seatsOf({ seats }: { readonly seats: readonly { readonly seatId: string }[] }): string[] {
  return seats.map(({ seatId }) => seatId);
}

import type { Ids } from '#application/ids';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { Order } from '../../application/ports.ts';
import type { Reservations } from '../../hold/application/reservation-ports.ts';
import { firstOfEach } from './first-of-each.ts';
import { FreeCheckOut, isFree } from './free-check-out.ts';
import { PlaceOrders, type CheckedOut, type CheckOutCommand } from './place-orders.ts';
import type { OrderConsequences, Orders, Payments } from './ports.ts';

interface AskedForPayment extends CheckedOut {
  readonly payment: Order['payment'];
}

/** The hold ended while the provider was asked: nobody may pay this order any more. */
class OrderOver extends Error {
  constructor(readonly order: Order) {
    super('the order is over');
  }
}

/** The provider refused this order to another request of the same checkout: the order was withdrawn. */
class OrderWithdrawn extends Error {
  constructor(readonly order: Order) {
    super('the order was withdrawn');
  }
}

/**
 * Makes an order of a hold and asks for its payment, in three steps that may each be repeated: the order (committed),
 * the intent at the provider (same order, same intent), the intent on the order (committed with the answer). A hold that costs
 * nothing takes the way of FreeCheckOut: the first step finds that out and writes nothing.
 */
export class CheckOut {
  private readonly placing: PlaceOrders;
  private readonly free: FreeCheckOut;
  private readonly place: (command: CheckOutCommand) => Promise<CheckedOut | 'free'>;
  private readonly record: (asked: AskedForPayment) => Promise<CheckedOut>;

  constructor(
    private readonly transactions: TransactionManager,
    private readonly reservations: Reservations,
    private readonly orders: Orders,
    private readonly payments: Payments,
    private readonly consequences: OrderConsequences,
    ids: Ids,
  ) {
    this.placing = new PlaceOrders(reservations, orders, ids);
    this.free = new FreeCheckOut(transactions, this.placing, reservations, orders, consequences);
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
    const placed = await this.place(command);
    if (placed === 'free') return this.free.execute(command);
    const { order, isNew } = placed;
    if (order.payment.intentId) return this.answer(order, isNew);
    let payment: Order['payment'];
    try {
      payment = await this.askForPayment(order);
    } catch (error) {
      const served = await this.withdrawIfRefused(order, error);
      return this.answer(served, served.placedWithKey === command.key);
    }
    try {
      return await this.record({ order, isNew, payment });
    } catch (error) {
      if (error instanceof OrderOver) await this.takeIntentBack(error.order, payment);
      if (error instanceof OrderWithdrawn) await this.dropIntent(error.order, payment);
      throw error;
    }
  }

  private answer(order: Order, isNew: boolean): Promise<CheckedOut> {
    return this.transactions.run(() => Promise.resolve({ order, isNew }));
  }

  private async placeOrder(tx: Transaction, command: CheckOutCommand): Promise<CheckedOut | 'free'> {
    const reservation = await this.placing.lock(tx, command);
    return isFree(reservation) ? 'free' : this.placing.place(tx, command, reservation);
  }

  private async placeMany(
    tx: Transaction,
    commands: readonly CheckOutCommand[],
  ): Promise<readonly (CheckedOut | 'free' | undefined)[]> {
    const locked = await this.placing.lockMany(tx, commands);
    const free = new Set(
      commands.filter(({ reservationId, userId }) => {
        const reservation = locked.free.get(reservationId);
        return reservation?.userId === userId && isFree(reservation);
      }),
    );
    const paid = free.size === 0 ? commands : commands.filter((command) => !free.has(command));
    const placed = await this.placing.placePlain(tx, this.placing.plainOf(paid, locked));
    return commands.map((command) => {
      if (free.has(command)) return 'free';
      const made = placed.get(command);
      return made && { order: made.order, isNew: true };
    });
  }

  private async askForPayment(order: Order): Promise<Order['payment']> {
    const { provider, intentId, clientSecret, confirmUrl } = await this.payments.createIntent({
      orderId: order.id,
      amountCents: order.totalCents,
      currency: order.currency,
    });
    return { provider, intentId, clientSecret, confirmUrl: confirmUrl ?? null };
  }

  /**
   * Refused by the provider: no order is left, and the hold may be checked out again. Another request of the same checkout may
   * have been served meanwhile; then its order is the answer.
   */
  private async withdrawIfRefused({ id, reservationId }: Order, error: unknown): Promise<Order> {
    if (!(error instanceof DomainError && error.code === 'PAYMENT_REFUSED')) throw error;
    const served = await this.transactions.runStep(async (tx) => {
      const reservation = await this.reservations.lock(tx, reservationId);
      const order = await this.orders.lock(tx, id);
      if (!order || order.payment.intentId) return order;
      await this.orders.remove(tx, id);
      if (reservation?.status === 'ordered') await this.reservations.setStatus(tx, reservationId, 'held');
      return undefined;
    });
    if (!served) throw error;
    return served;
  }

  /** A payment may have come before this; then the order is already completed, and that is its answer. */
  private async withIntent(tx: Transaction, { order: asked, isNew, payment }: AskedForPayment): Promise<CheckedOut> {
    const order = await this.orders.lock(tx, asked.id);
    if (!order) throw new OrderWithdrawn(asked);
    if (order.status === 'cancelled' || order.status === 'expired') throw new OrderOver(order);
    await this.orders.setIntent(tx, order.id, payment);
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
    throw new DomainError('INVALID_STATE', 'This reservation was given back meanwhile.', { reservation_status: 'released' });
  }

  /** Nobody was told of this intent, so nobody can pay it. */
  private async dropIntent(order: Order, payment: Order['payment']): Promise<never> {
    await this.transactions.runStep((tx) => this.consequences.cancelled(tx, { ...order, payment }));
    throw new DomainError('PAYMENT_REFUSED', 'The payment provider refused this order to another request. Nothing was charged.', {
      reason: 'order_withdrawn',
    });
  }
}

import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { Order } from '../../application/sale-ports.ts';
import type { Reservations } from '../../hold/application/reservation-ports.ts';
import { firstOfEachKey } from './first-of-each-key.ts';
import { FreeCheckOut, costsNothing } from './free-check-out.ts';
import type { PlaceOrders, CheckedOut, CheckOutCommand } from './place-orders.ts';
import type { OrderConsequences, Orders, Payments } from './ports.ts';

/** An order and the intent that the provider created for it, not stored yet. */
type CreatedIntent = CheckedOut & { readonly payment: Order['payment'] };

/**
 * The order must not be paid any more. Either its hold ended while the provider created the intent: the order is cancelled or
 * expired. Or the provider refused the payment to a concurrent request for the same checkout, and that request deleted the order.
 */
class OrderEnded extends Error {
  constructor(
    readonly order: Order,
    readonly isDeleted: boolean,
  ) {
    super('the order has ended');
  }
}

/**
 * Creates the order of a hold and its payment intent. Three steps, and each may be repeated safely:
 * 1. Commit the order.
 * 2. Create the intent at the provider. The same order gets the same intent.
 * 3. Store the intent on the order and commit it together with the answer.
 * If the hold costs nothing, step 1 writes nothing and `FreeCheckOut` does the rest.
 */
export class CheckOut {
  private readonly freeCheckOut: FreeCheckOut;
  private readonly place: (command: CheckOutCommand) => Promise<CheckedOut | 'free'>;
  private readonly storeIntent: (created: CreatedIntent) => Promise<CheckedOut>;

  constructor(
    private readonly transactions: TransactionManager,
    private readonly placeOrders: PlaceOrders,
    private readonly reservations: Reservations,
    private readonly orders: Orders,
    private readonly payments: Payments,
    private readonly consequences: OrderConsequences,
  ) {
    this.freeCheckOut = new FreeCheckOut(transactions, placeOrders, reservations, orders, consequences);
    this.place = transactions.stepTogether({
      many: (tx, commands) => this.placeMany(tx, commands),
      one: (tx, command) => this.placeOne(tx, command),
    });
    this.storeIntent = transactions.together({
      many: (tx, created) => this.storeManyIntents(tx, created),
      one: (tx, created) => this.storeOneIntent(tx, created),
    });
  }

  async execute(command: CheckOutCommand): Promise<CheckedOut> {
    const placed = await this.place(command);
    if (placed === 'free') return this.freeCheckOut.execute(command);
    const { order, isNew } = placed;
    if (order.payment.intentId) return this.answer(order, isNew);
    let payment: Order['payment'];
    try {
      payment = await this.createIntent(order);
    } catch (error) {
      const paidOrder = await this.withdrawIfRefused(order, error);
      return this.answer(paidOrder, paidOrder.placedWithKey === command.key);
    }
    try {
      return await this.storeIntent({ order, isNew, payment });
    } catch (error) {
      throw error instanceof OrderEnded ? await this.cancelIntent(error, payment) : error;
    }
  }

  private answer(order: Order, isNew: boolean): Promise<CheckedOut> {
    return this.transactions.run(() => Promise.resolve({ order, isNew }));
  }

  private async placeOne(tx: Transaction, command: CheckOutCommand): Promise<CheckedOut | 'free'> {
    const reservation = await this.placeOrders.lock(tx, command);
    return costsNothing(reservation) ? 'free' : this.placeOrders.place(tx, command, reservation);
  }

  private async placeMany(
    tx: Transaction,
    commands: readonly CheckOutCommand[],
  ): Promise<readonly (CheckedOut | 'free' | undefined)[]> {
    const locked = await this.placeOrders.lockMany(tx, commands);
    const isFree = ({ reservationId, userId }: CheckOutCommand): boolean => {
      const reservation = locked.holds.get(reservationId);
      return reservation?.userId === userId && costsNothing(reservation);
    };
    const toBePaid = commands.filter((command) => !isFree(command));
    const placed = await this.placeOrders.placeSimple(tx, this.placeOrders.selectSimple(toBePaid, locked));
    return commands.map((command) => {
      if (isFree(command)) return 'free';
      const checkOut = placed.get(command);
      return checkOut && { order: checkOut.order, isNew: true };
    });
  }

  private async createIntent({ id, totalCents, currency }: Order): Promise<Order['payment']> {
    const intent = await this.payments.createIntent({ orderId: id, amountCents: totalCents, currency });
    return { ...intent, confirmUrl: intent.confirmUrl ?? null };
  }

  /**
   * The provider refused the payment: deletes the order, and the hold may be checked out again. If a concurrent request for the
   * same checkout has stored an intent meanwhile, the order stays and is returned. Otherwise the refusal is thrown.
   */
  private async withdrawIfRefused({ id, reservationId }: Order, error: unknown): Promise<Order> {
    if (!(error instanceof DomainError && error.code === 'PAYMENT_REFUSED')) throw error;
    const orderWithIntent = await this.transactions.runStep(async (tx) => {
      const reservation = await this.reservations.lock(tx, reservationId);
      const order = await this.orders.lock(tx, id);
      if (!order || order.payment.intentId) return order;
      await this.orders.remove(tx, id);
      if (reservation?.status === 'ordered') await this.reservations.setStatus(tx, reservationId, 'held');
      return undefined;
    });
    if (!orderWithIntent) throw error;
    return orderWithIntent;
  }

  /**
   * Stores the intent on its order. If the payment was reported before this step, the order is completed, and the answer says so.
   */
  private async storeOneIntent(tx: Transaction, { order: placed, isNew, payment }: CreatedIntent): Promise<CheckedOut> {
    const order = await this.orders.lock(tx, placed.id);
    if (!order) throw new OrderEnded(placed, true);
    if (order.status === 'cancelled' || order.status === 'expired') throw new OrderEnded(order, false);
    await this.orders.setIntent(tx, order.id, payment);
    return { order: { ...order, payment }, isNew };
  }

  /** Stores the intents of orders that still await payment. An undefined result: `storeOneIntent` must decide about that order. */
  private async storeManyIntents(
    tx: Transaction,
    created: readonly CreatedIntent[],
  ): Promise<readonly (CheckedOut | undefined)[]> {
    const firstOfOrder = firstOfEachKey(created, ({ order }) => order.id);
    const intents = firstOfOrder.map(({ order, payment }) => ({ orderId: order.id, payment }));
    const storedIds = await this.orders.setFirstIntents(tx, intents);
    const stored = new Set(firstOfOrder.filter(({ order }) => storedIds.has(order.id)));
    return created.map((intent) => {
      const { order, payment, isNew } = intent;
      return stored.has(intent) ? { order: { ...order, payment }, isNew } : undefined;
    });
  }

  /**
   * Cancels the intent at the provider, and returns the error that answers the fan. The intent is stored first: if it is paid all
   * the same, the payment can be matched to its order. The fan never received the intent of a deleted order, so it cannot be paid.
   */
  private async cancelIntent({ order, isDeleted }: OrderEnded, payment: Order['payment']): Promise<DomainError> {
    await this.transactions.runStep(async (tx) => {
      if (!isDeleted) await this.orders.setIntent(tx, order.id, payment);
      await this.consequences.cancelled(tx, { ...order, payment });
    });
    if (isDeleted) {
      const message = 'The payment provider refused this order to another request. Nothing was charged.';
      return new DomainError('PAYMENT_REFUSED', message, { reason: 'order_withdrawn' });
    }
    if (order.status === 'expired')
      return new DomainError('RESERVATION_EXPIRED', 'This reservation has expired; its seats are for sale again.');
    return new DomainError('INVALID_STATE', 'This reservation was released meanwhile.', { reservation_status: 'released' });
  }
}

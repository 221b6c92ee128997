import type { Transaction } from '#application/transaction-manager';
import { orderNumber, type OrderStatus } from '#domain/purchase/order';
import type { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { inside } from '#testing/simulation/simulated-transactions';
import { Orders, PaymentInbox, type Order } from '../application/ports.ts';
import { tables } from './memory-tables.ts';

/** Statement for statement what postgres-orders.ts asks of the database. */
export class MemoryOrders extends Orders {
  constructor(
    private readonly db: SimulatedDatabase,
    /** A negative control: off, a window may have any number of orders. */
    private readonly oneAWindow = true,
  ) {
    super();
  }

  /** A sequence: never rolled back. */
  async nextNumber(tx: Transaction): Promise<string> {
    await inside(tx).statement('draws an order number');
    return orderNumber(2026, Number(this.db.scheduler.newId('')));
  }

  async add(tx: Transaction, order: Order): Promise<boolean> {
    const open = inside(tx);
    await open.statement(`adds order ${order.id}`);
    const { id: orderId, reservationId, sessionToken } = order;
    if (sessionToken && this.oneAWindow) {
      if (!(await open.insert(tables.orderOfWindow, sessionToken, { orderId, reservationId }))) return false;
    }
    await open.insertNew(tables.orderOfReservation, reservationId, { orderId });
    await open.put(tables.orders, orderId, order);
    await this.note(tx, orderId, 'created');
    return true;
  }

  async lock(tx: Transaction, orderId: string): Promise<Order | undefined> {
    await inside(tx).statement(`locks order ${orderId}`);
    return inside(tx).lock(tables.orders, orderId);
  }

  async lockOfReservation(tx: Transaction, reservationId: string): Promise<Order | undefined> {
    await inside(tx).statement(`locks the order of ${reservationId}`);
    const found = inside(tx).get(tables.orderOfReservation, reservationId);
    return found && inside(tx).lock(tables.orders, found.orderId);
  }

  async reservationPaid(tx: Transaction, by: { intentId?: string; orderId?: string }): Promise<string | undefined> {
    const open = inside(tx);
    await open.statement(`looks whose payment ${by.intentId} is`);
    const byIntent = by.intentId && open.get(tables.intents, by.intentId);
    if (byIntent) return open.get(tables.orders, byIntent.orderId)?.reservationId;
    const order = by.orderId ? open.get(tables.orders, by.orderId) : undefined;
    return order && order.payment.intentId === null ? order.reservationId : undefined;
  }

  async inWindow(tx: Transaction, sessionToken: string): Promise<{ id: string; reservationId: string } | undefined> {
    await inside(tx).statement(`looks for the order of ${sessionToken}`);
    const claim = inside(tx).get(tables.orderOfWindow, sessionToken);
    return claim && { id: claim.orderId, reservationId: claim.reservationId };
  }

  async reclaimWindow(tx: Transaction, order: Order): Promise<boolean> {
    if (!order.sessionToken || !this.oneAWindow) return true;
    const owner = await this.inWindow(tx, order.sessionToken);
    if (!owner) {
      await inside(tx).statement(`reclaims ${order.sessionToken}`);
      const claim = { orderId: order.id, reservationId: order.reservationId };
      await inside(tx).insertNew(tables.orderOfWindow, order.sessionToken, claim);
    }
    return !owner || owner.id === order.id;
  }

  async giveUpWindow(tx: Transaction, order: Order): Promise<void> {
    if (!order.sessionToken) return;
    await inside(tx).statement(`gives up ${order.sessionToken}`);
    const claim = inside(tx).get(tables.orderOfWindow, order.sessionToken);
    if (claim?.orderId === order.id) await inside(tx).put(tables.orderOfWindow, order.sessionToken, undefined);
  }

  async setIntent(tx: Transaction, orderId: string, payment: Order['payment']): Promise<void> {
    await inside(tx).statement(`notes intent ${payment.intentId} of ${orderId}`);
    await inside(tx).change(tables.orders, orderId, { payment });
    if (payment.intentId) await inside(tx).insert(tables.intents, payment.intentId, { orderId });
  }

  async setStatus(tx: Transaction, orderId: string, status: OrderStatus, events: readonly string[]): Promise<void> {
    await inside(tx).statement(`makes order ${orderId} ${status}`);
    await inside(tx).change(tables.orders, orderId, { status });
    for (const event of events) await this.note(tx, orderId, event);
  }

  async note(tx: Transaction, orderId: string, event: string): Promise<void> {
    await inside(tx).put(tables.timeline, this.db.scheduler.newId('line'), { orderId, event });
  }
}

/** Which of the provider's events took effect. */
export class MemoryPaymentInbox extends PaymentInbox {
  constructor(
    /** A negative control: off, every repetition is news. */
    private readonly remembers = true,
  ) {
    super();
  }

  async remember(tx: Transaction, { eventId }: { eventId: string }): Promise<boolean> {
    await inside(tx).statement(`remembers event ${eventId}`);
    return !this.remembers || inside(tx).insert(tables.inbox, eventId, { eventId });
  }
}

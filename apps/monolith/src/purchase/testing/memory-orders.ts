import type { Transaction } from '#application/transaction-manager';
import { orderNumber, type OrderStatus } from '#domain/purchase/order';
import type { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { inside } from '#testing/simulation/simulated-transactions';
import type { Order } from '../application/sale-ports.ts';
import { Orders } from '../checkout/application/ports.ts';
import { PaymentInbox } from '../settlement/application/ports.ts';
import { tables } from './memory-tables.ts';

/** Does the same as postgres-orders.ts, statement by statement, on the simulated database. */
export class MemoryOrders extends Orders {
  constructor(
    private readonly db: SimulatedDatabase,
    /** Protection of the real adapter. If a negative control switches it off, a window (turn) may have several orders. */
    private readonly isOneOrderPerWindow = true,
  ) {
    super();
  }

  async barred(tx: Transaction, userIds: readonly string[]): Promise<ReadonlySet<string>> {
    const open = inside(tx);
    await open.statement(`reads which of ${userIds.join(' ') || 'nobody'} are blacklisted`);
    return new Set(userIds.filter((userId) => open.get(tables.blacklist, userId)));
  }

  /** Like a PostgreSQL sequence: a rollback does not return the numbers. */
  async nextNumbers(tx: Transaction, count: number): Promise<readonly string[]> {
    await inside(tx).statement(`draws ${count} order number(s)`);
    return Array.from({ length: count }, () => orderNumber(2026, Number(this.db.scheduler.newId(''))));
  }

  async place(tx: Transaction, orders: readonly Order[]): Promise<ReadonlySet<string>> {
    const open = inside(tx);
    await open.statement(`places ${orders.map(({ id }) => id).join(' ')}`);
    const added = new Set<string>();
    for (const order of orders) {
      const { id: orderId, reservationId, sessionToken } = order;
      if (sessionToken && this.isOneOrderPerWindow) {
        if (!(await open.insert(tables.orderOfWindow, sessionToken, { orderId, reservationId }))) continue;
      }
      await open.insertNew(tables.orderOfReservation, reservationId, { orderId });
      await open.put(tables.orders, orderId, order);
      added.add(orderId);
    }
    for (const { id, reservationId } of orders) {
      if (!added.has(id)) continue;
      await this.note(tx, id, 'created');
      await open.change(tables.reservations, reservationId, { status: 'ordered' });
    }
    return added;
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
    await open.statement(`finds the order of payment ${by.intentId}`);
    const byIntent = by.intentId && open.get(tables.intents, by.intentId);
    if (byIntent) return open.get(tables.orders, byIntent.orderId)?.reservationId;
    const order = by.orderId ? open.get(tables.orders, by.orderId) : undefined;
    return order && order.payment.intentId === null ? order.reservationId : undefined;
  }

  async inWindow(tx: Transaction, sessionToken: string): Promise<{ id: string; reservationId: string } | undefined> {
    await inside(tx).statement(`reads the order of ${sessionToken}`);
    const claim = inside(tx).get(tables.orderOfWindow, sessionToken);
    return claim && { id: claim.orderId, reservationId: claim.reservationId };
  }

  async reclaimWindow(tx: Transaction, order: Order): Promise<boolean> {
    if (!order.sessionToken || !this.isOneOrderPerWindow) return true;
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
    await inside(tx).statement(`stores intent ${payment.intentId} of ${orderId}`);
    await inside(tx).change(tables.orders, orderId, { payment });
    if (payment.intentId) await inside(tx).insert(tables.intents, payment.intentId, { orderId });
  }

  async lockAwaiting(tx: Transaction, intentIds: readonly string[]): Promise<ReadonlyMap<string, Order>> {
    const open = inside(tx);
    await open.statement(`locks the orders that await ${intentIds.join(' ') || 'nothing'}`);
    const ids = intentIds.flatMap((intentId) => open.get(tables.intents, intentId)?.orderId ?? []);
    const free = await open.lockFree(
      tables.orders,
      ids,
      ({ status, payment }) => status === 'awaiting_payment' && intentIds.includes(payment.intentId ?? ''),
    );
    return new Map([...free.values()].map((order) => [order.payment.intentId ?? '', order]));
  }

  async setFirstIntents(
    tx: Transaction,
    intents: readonly { readonly orderId: string; readonly payment: Order['payment'] }[],
  ): Promise<ReadonlySet<string>> {
    const open = inside(tx);
    await open.statement(`stores the first intents of ${intents.map(({ orderId }) => orderId).join(' ')}`);
    const isFirst = ({ status, payment }: Order): boolean => status === 'awaiting_payment' && payment.intentId === null;
    const free = await open.lockFree(
      tables.orders,
      intents.map(({ orderId }) => orderId),
      isFirst,
    );
    for (const { orderId, payment } of intents) {
      if (!free.has(orderId)) continue;
      await open.change(tables.orders, orderId, { payment });
      if (payment.intentId) await open.insert(tables.intents, payment.intentId, { orderId });
    }
    return new Set(free.keys());
  }

  async setStatus(tx: Transaction, orderIds: readonly string[], status: OrderStatus, events: readonly string[]): Promise<void> {
    await inside(tx).statement(`makes ${orderIds.join(' ')} ${status}`);
    for (const orderId of orderIds) {
      await inside(tx).change(tables.orders, orderId, { status });
      for (const event of events) await this.note(tx, orderId, event);
    }
  }

  async note(tx: Transaction, orderId: string, event: string): Promise<void> {
    const id = this.db.scheduler.newId('line');
    await inside(tx).put(tables.timeline, id, { id, orderId, event });
  }

  async remove(tx: Transaction, orderId: string): Promise<void> {
    const open = inside(tx);
    await open.statement(`removes order ${orderId}`);
    const order = open.get(tables.orders, orderId);
    if (!order || order.payment.intentId !== null || order.status === 'completed') return;
    await open.put(tables.orders, orderId, undefined);
    await open.put(tables.orderOfReservation, order.reservationId, undefined);
    const claim = order.sessionToken ? open.get(tables.orderOfWindow, order.sessionToken) : undefined;
    if (order.sessionToken && claim?.orderId === orderId) await open.put(tables.orderOfWindow, order.sessionToken, undefined);
    for (const { id } of open.find(tables.timeline, (line) => line.orderId === orderId))
      await open.put(tables.timeline, id, undefined);
  }
}

/** Records the provider's events that took effect, in the simulated database. */
export class MemoryPaymentInbox extends PaymentInbox {
  constructor(
    /** Protection of the real adapter. If a negative control switches it off, a repeated event is treated as a new one. */
    private readonly detectsRepeats = true,
  ) {
    super();
  }

  async remember(tx: Transaction, { eventId }: { eventId: string }): Promise<boolean> {
    await inside(tx).statement(`remembers event ${eventId}`);
    return !this.detectsRepeats || inside(tx).insert(tables.inbox, eventId, { eventId });
  }

  async rememberNew(tx: Transaction, events: readonly { readonly eventId: string }[]): Promise<void> {
    await inside(tx).statement(`remembers events ${events.map(({ eventId }) => eventId).join(' ')}`);
    if (!this.detectsRepeats) return;
    for (const { eventId } of events) await inside(tx).insertNew(tables.inbox, eventId, { eventId });
  }
}

import type { Transaction } from '#application/transaction-manager';
import { orderNumber, type OrderStatus } from '#domain/purchase/order';
import { inside } from '#platform/postgres/transaction';
import type { BlacklistApi } from '../../../blacklist/blacklist.api.ts';
import type { Order } from '../../application/sale-ports.ts';
import type { OrderIntent, Orders } from '../application/ports.ts';
import { LOCK_AWAITING_ORDERS, ORDER_COLUMNS, PLACE_ORDERS, SET_FIRST_INTENTS, SET_ORDER_STATUS } from './orders.sql.ts';

/** Orders in the table `orders`. Each method runs in the caller's transaction. */
export class PostgresOrders implements Orders {
  constructor(private readonly blacklist: BlacklistApi) {}

  barred(tx: Transaction, userIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.blacklist.listed(tx, userIds);
  }

  /** The numbers are taken from the sequence, with the current year. Both together are the order's number. */
  async nextNumbers(tx: Transaction, count: number): Promise<readonly string[]> {
    const rows = await inside(tx).rows<{ year: number; number: string }>(
      `select extract(year from now() at time zone 'UTC')::int as year, nextval('order_numbers') as number from generate_series(1, $1)`,
      [count],
    );
    return rows.map(({ year, number }) => orderNumber(year, Number(number)));
  }

  async place(tx: Transaction, orders: readonly Order[]): Promise<ReadonlySet<string>> {
    const rows = await inside(tx).rows<{ id: string }>(PLACE_ORDERS.with({ orders: JSON.stringify(orders) }));
    return new Set(rows.map(({ id }) => id));
  }

  async lock(tx: Transaction, orderId: string): Promise<Order | undefined> {
    const [order] = await inside(tx).rows<Order>(`select ${ORDER_COLUMNS} from orders o where o.id = $1 for update`, [orderId]);
    return order;
  }

  async lockOfReservation(tx: Transaction, reservationId: string): Promise<Order | undefined> {
    const text = `select ${ORDER_COLUMNS} from orders o where o.reservation_id = $1 for update`;
    const [order] = await inside(tx).rows<Order>(text, [reservationId]);
    return order;
  }

  async reservationPaid(tx: Transaction, by: { intentId?: string; orderId?: string }): Promise<string | undefined> {
    const [order] = await inside(tx).rows<{ reservation_id: string }>(
      `select o.reservation_id from order_intents i join orders o on o.id = i.order_id where i.intent_id = $1
       union all select reservation_id from orders where id = $2 and intent_id is null`,
      [by.intentId ?? null, by.orderId ?? null],
    );
    return order?.reservation_id;
  }

  async inWindow(tx: Transaction, sessionToken: string): Promise<{ id: string; reservationId: string } | undefined> {
    const text = `select id, reservation_id as "reservationId" from orders where session_token = $1 and claims_window`;
    const [order] = await inside(tx).rows<{ id: string; reservationId: string }>(text, [sessionToken]);
    return order;
  }

  async reclaimWindow(tx: Transaction, order: Order): Promise<boolean> {
    if (!order.sessionToken) return true;
    const owner = await this.inWindow(tx, order.sessionToken);
    if (!owner) await inside(tx).rows(`update orders set claims_window = true where id = $1`, [order.id]);
    return !owner || owner.id === order.id;
  }

  async giveUpWindow(tx: Transaction, order: Order): Promise<void> {
    if (order.sessionToken) await inside(tx).rows(`update orders set claims_window = false where id = $1`, [order.id]);
  }

  async setIntent(tx: Transaction, orderId: string, payment: Order['payment']): Promise<void> {
    const { provider, intentId, clientSecret, confirmUrl } = payment;
    await inside(tx).rows(`update orders set provider = $2, intent_id = $3, client_secret = $4, confirm_url = $5 where id = $1`, [
      orderId,
      provider,
      intentId,
      clientSecret,
      confirmUrl,
    ]);
    const addIntent = `insert into order_intents (intent_id, order_id) values ($1, $2) on conflict (intent_id) do nothing`;
    await inside(tx).rows(addIntent, [intentId, orderId]);
  }

  async lockAwaiting(tx: Transaction, intentIds: readonly string[]): Promise<ReadonlyMap<string, Order>> {
    const rows = await inside(tx).rows<Order>(LOCK_AWAITING_ORDERS.with({ intentIds }));
    return new Map(rows.map((order) => [order.payment.intentId ?? '', order]));
  }

  async setFirstIntents(tx: Transaction, intents: readonly OrderIntent[]): Promise<ReadonlySet<string>> {
    const orderIds = intents.map(({ orderId }) => orderId);
    const payments = JSON.stringify(intents.map(({ orderId, payment }) => ({ orderId, ...payment })));
    const rows = await inside(tx).rows<{ id: string }>(SET_FIRST_INTENTS.with({ intents: payments, orderIds }));
    return new Set(rows.map(({ id }) => id));
  }

  async setStatus(tx: Transaction, orderIds: readonly string[], status: OrderStatus, events: readonly string[]): Promise<void> {
    await inside(tx).write(SET_ORDER_STATUS.with({ orderIds, status, events }));
  }

  async note(tx: Transaction, orderId: string, event: string): Promise<void> {
    await inside(tx).rows(`insert into order_timeline (order_id, event) values ($1, $2)`, [orderId, event]);
  }

  /** A completed order without payment (its price was 0) is not deleted. */
  async remove(tx: Transaction, orderId: string): Promise<void> {
    await inside(tx).rows(
      `with removed as (delete from orders where id = $1 and intent_id is null and status <> 'completed' returning id)
       delete from order_timeline where order_id = (select id from removed)`,
      [orderId],
    );
  }
}

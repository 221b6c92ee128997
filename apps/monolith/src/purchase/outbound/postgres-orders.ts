import type { Transaction } from '#application/transaction-manager';
import { orderNumber, type OrderStatus } from '#domain/purchase/order';
import { inside } from '#platform/postgres/transaction';
import { Orders, type Order } from '../application/ports.ts';

export const ORDER_COLUMNS = `
  o.id, o.number, o.match_id as "matchId", o.reservation_id as "reservationId", o.user_id as "userId", o.session_token as "sessionToken",
  o.status, o.total_cents as "totalCents", o.currency, o.email, o.holders,
  jsonb_build_object('provider', o.provider, 'intentId', o.intent_id, 'clientSecret', o.client_secret, 'confirmUrl', o.confirm_url) as payment`;

export class PostgresOrders extends Orders {
  async nextNumber(tx: Transaction): Promise<string> {
    const [row] = await inside(tx).rows<{ year: number; number: string }>(
      `select extract(year from now() at time zone 'UTC')::int as year, nextval('order_numbers') as number`,
    );
    return orderNumber(row?.year ?? 0, Number(row?.number));
  }

  async add(tx: Transaction, order: Order): Promise<boolean> {
    const added = await inside(tx).rows(
      `insert into orders (id, number, match_id, reservation_id, user_id, session_token, claims_window, status, total_cents, currency, email,
                           holders, provider)
       values ($1, $2, $3, $4, $5, $6, $6::text is not null, $7, $8, $9, $10, $11::jsonb, $12)
       on conflict (session_token) where claims_window do nothing returning 1`,
      [
        order.id,
        order.number,
        order.matchId,
        order.reservationId,
        order.userId,
        order.sessionToken,
        order.status,
        order.totalCents,
        order.currency,
        order.email,
        JSON.stringify(order.holders),
        order.payment.provider,
      ],
    );
    if (added.length > 0) await this.note(tx, order.id, 'created');
    return added.length > 0;
  }

  async lock(tx: Transaction, orderId: string): Promise<Order | undefined> {
    const rows = await inside(tx).rows<Order>(`select ${ORDER_COLUMNS} from orders o where o.id = $1 for update`, [orderId]);
    return rows[0];
  }

  async lockOfReservation(tx: Transaction, reservationId: string): Promise<Order | undefined> {
    const rows = await inside(tx).rows<Order>(`select ${ORDER_COLUMNS} from orders o where o.reservation_id = $1 for update`, [
      reservationId,
    ]);
    return rows[0];
  }

  async reservationPaid(
    tx: Transaction,
    { intentId, orderId }: { intentId?: string; orderId?: string },
  ): Promise<string | undefined> {
    const rows = await inside(tx).rows<{ reservation_id: string }>(
      `select o.reservation_id from order_intents i join orders o on o.id = i.order_id where i.intent_id = $1
       union all select reservation_id from orders where id = $2 and intent_id is null`,
      [intentId ?? null, orderId ?? null],
    );
    return rows[0]?.reservation_id;
  }

  async inWindow(tx: Transaction, sessionToken: string): Promise<{ id: string; reservationId: string } | undefined> {
    const rows = await inside(tx).rows<{ id: string; reservationId: string }>(
      `select id, reservation_id as "reservationId" from orders where session_token = $1 and claims_window`,
      [sessionToken],
    );
    return rows[0];
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
    await inside(tx).rows(`update orders set provider = $2, intent_id = $3, client_secret = $4, confirm_url = $5 where id = $1`, [
      orderId,
      payment.provider,
      payment.intentId,
      payment.clientSecret,
      payment.confirmUrl,
    ]);
    await inside(tx).rows(`insert into order_intents (intent_id, order_id) values ($1, $2) on conflict (intent_id) do nothing`, [
      payment.intentId,
      orderId,
    ]);
  }

  async setStatus(tx: Transaction, orderId: string, status: OrderStatus, events: readonly string[]): Promise<void> {
    await inside(tx).rows(
      `update orders set status = $2, completed_at = case when $2 = 'completed' then now() else completed_at end where id = $1`,
      [orderId, status],
    );
    for (const event of events) await this.note(tx, orderId, event);
  }

  async note(tx: Transaction, orderId: string, event: string): Promise<void> {
    await inside(tx).rows(`insert into order_timeline (order_id, event) values ($1, $2)`, [orderId, event]);
  }
}

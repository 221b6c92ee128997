import type { Transaction } from '#application/transaction-manager';
import type { OrderStatus } from '#domain/purchase/order';
import { inside } from '#platform/postgres/transaction';
import { Orders, type Order } from '../application/ports.ts';

export const ORDER_COLUMNS = `
  o.id, o.number, o.match_id as "matchId", o.reservation_id as "reservationId", o.user_id as "userId", o.session_token as "sessionToken",
  o.status, o.total_cents as "totalCents", o.currency, o.email, o.holders,
  jsonb_build_object('provider', o.provider, 'intentId', o.intent_id, 'clientSecret', o.client_secret, 'confirmUrl', o.confirm_url) as payment`;

export class PostgresOrders extends Orders {
  async nextNumber(tx: Transaction): Promise<number> {
    const [row] = await inside(tx).rows<{ number: string }>(`select nextval('order_numbers') as number`);
    return Number(row?.number);
  }

  async add(tx: Transaction, order: Order): Promise<void> {
    await inside(tx).rows(
      `insert into orders (id, number, match_id, reservation_id, user_id, session_token, status, total_cents, currency, email, holders, provider)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12)`,
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
    await this.note(tx, order.id, 'created');
  }

  async ofReservation(tx: Transaction, reservationId: string): Promise<Order | undefined> {
    const rows = await inside(tx).rows<Order>(`select ${ORDER_COLUMNS} from orders o where o.reservation_id = $1 for update`, [reservationId]);
    return rows[0];
  }

  async lockByIntent(tx: Transaction, intentId: string): Promise<Order | undefined> {
    const rows = await inside(tx).rows<Order>(`select ${ORDER_COLUMNS} from orders o where o.intent_id = $1 for update`, [intentId]);
    return rows[0];
  }

  async rivalInWindow(tx: Transaction, sessionToken: string, reservationId: string): Promise<{ id: string; status: OrderStatus } | undefined> {
    const rows = await inside(tx).rows<{ id: string; status: OrderStatus }>(
      `select id, status from orders
       where session_token = $1 and reservation_id <> $2 and status in ('awaiting_payment', 'completed', 'refunded')`,
      [sessionToken, reservationId],
    );
    return rows[0];
  }

  async setIntent(tx: Transaction, orderId: string, payment: Order['payment']): Promise<void> {
    await inside(tx).rows(`update orders set provider = $2, intent_id = $3, client_secret = $4, confirm_url = $5 where id = $1`, [
      orderId,
      payment.provider,
      payment.intentId,
      payment.clientSecret,
      payment.confirmUrl,
    ]);
  }

  async setStatus(tx: Transaction, orderId: string, status: OrderStatus, events: readonly string[]): Promise<void> {
    await inside(tx).rows(`update orders set status = $2, completed_at = case when $2 = 'completed' then now() else completed_at end where id = $1`, [
      orderId,
      status,
    ]);
    for (const event of events) await this.note(tx, orderId, event);
  }

  async note(tx: Transaction, orderId: string, event: string): Promise<void> {
    await inside(tx).rows(`insert into order_timeline (order_id, event) values ($1, $2)`, [orderId, event]);
  }
}

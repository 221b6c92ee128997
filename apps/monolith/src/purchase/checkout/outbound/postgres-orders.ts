import type { Transaction } from '#application/transaction-manager';
import { orderNumber, type OrderStatus } from '#domain/purchase/order';
import { inside } from '#platform/postgres/transaction';
import type { BlacklistApi } from '../../../blacklist/blacklist.api.ts';
import type { Order } from '../../application/sale-ports.ts';
import { Orders } from '../application/ports.ts';

export const ORDER_COLUMNS = `
  o.id, o.number, o.match_id as "matchId", o.reservation_id as "reservationId", o.user_id as "userId", o.session_token as "sessionToken",
  o.status, o.total_cents as "totalCents", o.currency, o.email, o.holders,
  jsonb_build_object('provider', o.provider, 'intentId', o.intent_id, 'clientSecret', o.client_secret, 'confirmUrl', o.confirm_url) as payment,
  o.placed_with_key as "placedWithKey"`;

/** Adds orders, unless another order has the window. Writes their timeline and sets their reservations to `ordered`. */
const PLACE = `
  with added as (
    insert into orders (id, number, match_id, reservation_id, user_id, session_token, claims_window, status, total_cents, currency, email,
                        holders, provider, placed_with_key)
    select id, number, "matchId", "reservationId", "userId", "sessionToken", "sessionToken" is not null, status, "totalCents", currency, email,
           holders, payment ->> 'provider', "placedWithKey"
    from jsonb_to_recordset($1::jsonb) as o(id uuid, number text, "matchId" uuid, "reservationId" uuid, "userId" uuid, "sessionToken" text,
      status text, "totalCents" integer, currency text, email text, holders jsonb, payment jsonb, "placedWithKey" text)
    on conflict (session_token) where claims_window do nothing returning id, reservation_id
  ), noted as (
    insert into order_timeline (order_id, event) select id, 'created' from added
  ), ordered as (
    update reservations set status = 'ordered' where id = any(array(select reservation_id from added))
  ) select id from added`;

/** Locks the orders with `skip locked` before the update, because the update alone would wait for locks of other transactions. */
const SET_FIRST_INTENTS = `
  with given as (
    select * from jsonb_to_recordset($1::jsonb) as p("orderId" uuid, provider text, "intentId" text, "clientSecret" text, "confirmUrl" text)
  ), free as (
    select id from orders where id = any($2::uuid[]) and status = 'awaiting_payment' and intent_id is null for update skip locked
  ), updated as (
    update orders o set provider = given.provider, intent_id = "intentId", client_secret = "clientSecret", confirm_url = "confirmUrl"
    from given join free on free.id = given."orderId" where o.id = free.id and o.id = any($2::uuid[]) returning o.id, o.intent_id
  ), known as (
    insert into order_intents (intent_id, order_id) select intent_id, id from updated on conflict (intent_id) do nothing
  ) select id from updated`;

export class PostgresOrders extends Orders {
  constructor(private readonly blacklist: BlacklistApi) {
    super();
  }

  barred(tx: Transaction, userIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.blacklist.listed(tx, userIds);
  }

  async nextNumbers(tx: Transaction, count: number): Promise<readonly string[]> {
    const rows = await inside(tx).rows<{ year: number; number: string }>(
      `select extract(year from now() at time zone 'UTC')::int as year, nextval('order_numbers') as number from generate_series(1, $1)`,
      [count],
    );
    return rows.map(({ year, number }) => orderNumber(year, Number(number)));
  }

  async place(tx: Transaction, orders: readonly Order[]): Promise<ReadonlySet<string>> {
    const rows = await inside(tx).rows<{ id: string }>(PLACE, [JSON.stringify(orders)]);
    return new Set(rows.map(({ id }) => id));
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

  async lockAwaiting(tx: Transaction, intentIds: readonly string[]): Promise<ReadonlyMap<string, Order>> {
    const rows = await inside(tx).rows<Order>(
      `select ${ORDER_COLUMNS} from order_intents i join orders o on o.id = i.order_id
       where i.intent_id = any($1) and o.intent_id = i.intent_id and o.status = 'awaiting_payment' for update of o skip locked`,
      [intentIds],
    );
    return new Map(rows.map((order) => [order.payment.intentId ?? '', order]));
  }

  async setFirstIntents(
    tx: Transaction,
    intents: readonly { readonly orderId: string; readonly payment: Order['payment'] }[],
  ): Promise<ReadonlySet<string>> {
    const rows = await inside(tx).rows<{ id: string }>(SET_FIRST_INTENTS, [
      JSON.stringify(intents.map(({ orderId, payment }) => ({ orderId, ...payment }))),
      intents.map(({ orderId }) => orderId),
    ]);
    return new Set(rows.map(({ id }) => id));
  }

  async setStatus(tx: Transaction, orderIds: readonly string[], status: OrderStatus, events: readonly string[]): Promise<void> {
    await inside(tx).write(
      `with changed as (
         update orders set status = $2, completed_at = case when $2 = 'completed' then now() else completed_at end where id = any($1::uuid[])
       ) insert into order_timeline (order_id, event)
         select o.id, e.event from unnest($1::uuid[]) with ordinality as o(id, position) cross join unnest($3::text[]) with ordinality as e(event, position)
         order by o.position, e.position`,
      [orderIds, status, events],
    );
  }

  async note(tx: Transaction, orderId: string, event: string): Promise<void> {
    await inside(tx).rows(`insert into order_timeline (order_id, event) values ($1, $2)`, [orderId, event]);
  }

  async remove(tx: Transaction, orderId: string): Promise<void> {
    await inside(tx).rows(
      `with removed as (delete from orders where id = $1 and intent_id is null and status <> 'completed' returning id)
       delete from order_timeline where order_id = (select id from removed)`,
      [orderId],
    );
  }
}

import { namedSql } from '#platform/postgres/named-sql';

/*
 * Statements that write orders, for one checkout or payment or for a batch of them. They reach rows by key only, because at
 * SERIALIZABLE a scan would conflict with the transaction of every buyer.
 */

/** Columns of an order; the table `orders` has the alias `o`. */
export const ORDER_COLUMNS = `
  o.id, o.number, o.match_id as "matchId", o.reservation_id as "reservationId", o.user_id as "userId", o.session_token as "sessionToken",
  o.status, o.total_cents as "totalCents", o.currency, o.email, o.holders,
  json_build_object('provider', o.provider, 'intentId', o.intent_id, 'clientSecret', o.client_secret, 'confirmUrl', o.confirm_url) as payment,
  o.placed_with_key as "placedWithKey",
  case when o.request_id is not null
       then json_strip_nulls(json_build_object('requestId', o.request_id, 'traceparent', o.traceparent)) end as origin`;

/**
 * Adds orders and returns the ids of those that it added. `orders` is a JSON array of Order.
 *
 * Guarantee: a purchase window has one order. If the window of a new order already has an order, the new one is not added: no
 * timeline is written, and its reservation does not change.
 */
export const PLACE_ORDERS = namedSql<{ readonly orders: string }>(
  'place-orders',
  `
  with added as (
    insert into orders (id, number, match_id, reservation_id, user_id, session_token, claims_window, status, total_cents, currency, email,
                        holders, provider, placed_with_key, request_id, traceparent)
    select id, number, "matchId", "reservationId", "userId", "sessionToken", "sessionToken" is not null, status, "totalCents", currency, email,
           holders, payment ->> 'provider', "placedWithKey", origin ->> 'requestId', origin ->> 'traceparent'
    from jsonb_to_recordset(:orders::jsonb) as o(id uuid, number text, "matchId" uuid, "reservationId" uuid, "userId" uuid,
      "sessionToken" text, status text, "totalCents" integer, currency text, email text, holders jsonb, payment jsonb, "placedWithKey" text, origin jsonb)
    on conflict (session_token) where claims_window do nothing returning id, reservation_id
  ), noted as (
    insert into order_timeline (order_id, event) select id, 'created' from added
  ), ordered as (
    -- The reservations of the added orders. Their seats stay held until the payment decides.
    update reservations set status = 'ordered' where id = any(array(select reservation_id from added))
  ) select id from added`,
);

/**
 * Sets the first payment of orders and returns the ids of the orders that got one. `intents` is a JSON array with one payment for
 * each order, `orderIds` the ids of these orders.
 *
 * Guarantee: an order that already has a payment keeps it. The statement does not wait: an order that another transaction has
 * locked gets no payment.
 */
export const SET_FIRST_INTENTS = namedSql<{ readonly intents: string; readonly orderIds: readonly string[] }>(
  'set-first-intents',
  `
  with given as (
    select * from jsonb_to_recordset(:intents::jsonb) as p("orderId" uuid, provider text, "intentId" text, "clientSecret" text, "confirmUrl" text)
  ), free as (
    -- Orders without a payment. Locked with skip locked before the update, because the update alone would wait for other locks.
    select id from orders where id = any(:orderIds::uuid[]) and status = 'awaiting_payment' and intent_id is null for update skip locked
  ), updated as (
    update orders o set provider = given.provider, intent_id = "intentId", client_secret = "clientSecret", confirm_url = "confirmUrl"
    from given join free on free.id = given."orderId" where o.id = free.id and o.id = any(:orderIds::uuid[]) returning o.id, o.intent_id
  ), known as (
    -- Events of the payment provider find their order by this row.
    insert into order_intents (intent_id, order_id) select intent_id, id from updated on conflict (intent_id) do nothing
  ) select id from updated`,
);

/**
 * Locks the orders that wait for these payments. An order that another transaction has locked, that is paid or that has a newer
 * payment is missing from the result: the event of its payment is then settled in a transaction of its own.
 */
export const LOCK_AWAITING_ORDERS = namedSql<{ readonly intentIds: readonly string[] }>(
  'lock-awaiting-orders',
  `
  select ${ORDER_COLUMNS} from order_intents i join orders o on o.id = i.order_id
  where i.intent_id = any(:intentIds) and o.intent_id = i.intent_id and o.status = 'awaiting_payment' for update of o skip locked`,
);

/** Sets the status of orders and adds all `events` to the timeline of each order. The caller must have locked the orders. */
export const SET_ORDER_STATUS = namedSql<{
  readonly orderIds: readonly string[];
  readonly status: string;
  readonly events: readonly string[];
}>(
  'set-order-status',
  `
  with changed as (
    update orders set status = :status, completed_at = case when :status = 'completed' then now() else completed_at end
    where id = any(:orderIds::uuid[])
  )
  -- Inserted in the order of the arrays, because the timeline is read in the order of its ids.
  insert into order_timeline (order_id, event)
  select o.id, e.event
  from unnest(:orderIds::uuid[]) with ordinality as o(id, position) cross join unnest(:events::text[]) with ordinality as e(event, position)
  order by o.position, e.position`,
);

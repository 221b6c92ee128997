import { namedSql } from '#platform/postgres/named-sql';
import { ORDER_COLUMNS } from './orders.sql.ts';

/** Start of a query: orders with their seats, in the order in which the hold lists them, and their timelines. */
const SELECT_DETAILS = `
  select ${ORDER_COLUMNS},
    (select jsonb_agg(jsonb_build_object('seatId', s.seat_id, 'sector', s.sector, 'row', s.row_label, 'number', s.number,
                                         'priceCents', s.price_cents) order by s.position)
     from reservation_seats s where s.reservation_id = o.reservation_id) as seats,
    (select jsonb_agg(jsonb_build_object('at', to_char(t.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'event', t.event) order by t.id)
     from order_timeline t where t.order_id = o.id) as timeline
  from orders o`;

/** Finds an order by its id, if it belongs to the fan `userId`. */
export const ORDER_OF_FAN = namedSql<{ readonly orderId: string; readonly userId: string }>(
  'order-of-fan',
  `${SELECT_DETAILS} where o.id = :orderId and o.user_id = :userId`,
);

/** A page of a fan's orders, newest first. `before`: the last order id of the previous page, null for the first page. */
export const ORDERS_OF_FAN = namedSql<{ readonly userId: string; readonly before: string | null; readonly limit: number }>(
  'orders-of-fan',
  `${SELECT_DETAILS} where o.user_id = :userId and (:before::uuid is null or o.id < :before) order by o.id desc limit :limit`,
);

interface SearchParameters {
  readonly matchId: string | null;
  readonly userId: string | null;
  readonly status: string | null;
  /** An order's number, a payment's id or an email address. */
  readonly text: string | null;
  readonly before: string | null;
  readonly limit: number;
}

/** The search of operators: orders, newest first. A filter that is null matches every order. */
export const SEARCH_ORDERS = namedSql<SearchParameters>(
  'search-orders',
  `${SELECT_DETAILS}
   where (:matchId::uuid is null or o.match_id = :matchId) and (:userId::uuid is null or o.user_id = :userId)
     and (:status::text is null or o.status = :status)
     and (:text::text is null or o.number = upper(:text) or o.intent_id = :text or lower(o.email) = lower(:text))
     and (:before::uuid is null or o.id < :before) order by o.id desc limit :limit`,
);

/** The email address of each fan, from the fan's newest paid order of the match. */
export const ADDRESSES_OF_FANS = namedSql<{ readonly matchId: string; readonly userIds: readonly string[] }>(
  'addresses-of-fans',
  `
  select distinct on (user_id) user_id as "userId", email from orders
  where user_id = any(:userIds::uuid[]) and match_id = :matchId and status = 'completed' order by user_id, id desc`,
);

/** Totals of a match's orders, one row for each order status. `seats` counts the seats of orders that never had tickets. */
export const MATCH_TOTALS = namedSql<{ readonly matchId: string }>(
  'match-totals',
  `
  select status, count(*)::int as n, coalesce(sum(total_cents - refunded_cents), 0)::float8 as cents,
         coalesce(sum(refunded_tickets), 0)::int as tickets,
         coalesce(sum(jsonb_array_length(holders)) filter (where completed_at is null), 0)::int as seats
  from orders where match_id = :matchId group by status`,
);

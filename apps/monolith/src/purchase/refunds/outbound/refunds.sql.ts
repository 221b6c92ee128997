import { namedSql } from '#platform/postgres/named-sql';
import { seatIsHeld } from '../../seat-is-free.api.ts';

interface RefundedOrder {
  readonly orderId: string;
  readonly reservationId: string;
  readonly seatIds: readonly string[];
  readonly ticketCount: number;
  readonly cents: number;
}

/**
 * Frees the seats of refunded tickets and adds the refund to the order's sums. Guarantee: only seats that were sold with
 * this order's reservation become free. It returns how many became free; if that is not the number of tickets, the caller rolls
 * back.
 */
export const FREE_REFUNDED_SEATS = namedSql<RefundedOrder>(
  'free-refunded-seats',
  `
  with freed as (
    update seats set status = 'available', reservation_id = null
    where id = any(:seatIds::uuid[]) and reservation_id = :reservationId and status = 'sold' returning 1
  ), counted as (
    update orders set refunded_tickets = refunded_tickets + :ticketCount, refunded_cents = refunded_cents + :cents where id = :orderId
  ) select count(*)::int as n from freed`,
);

/**
 * True if an order or hold of the match may still be paid. Only for cancelled matches, whose sale is closed: no holds are added.
 */
export const MAY_BE_PAID = namedSql<{ readonly matchId: string }>(
  'may-be-paid',
  `
  select exists (select from orders where match_id = :matchId and status = 'awaiting_payment')
      or exists (select from seats where match_id = :matchId and ${seatIsHeld('seats')}) as any`,
);

/** A page of ids of the match's paid orders, ascending. `after`: the last id of the previous page, null for the first page. */
export const COMPLETED_ORDER_IDS = namedSql<{ readonly matchId: string; readonly after: string | null; readonly limit: number }>(
  'completed-order-ids',
  `
  select id from orders where match_id = :matchId and (:after::uuid is null or id > :after) and status = 'completed'
  order by id limit :limit`,
);

import { BatchedReads } from '#platform/postgres/batched-reads';
import { prepared } from '#platform/postgres/database';
import type { ReplicaReads } from '#platform/postgres/replica-reads';
import type { OrderStatus } from '#domain/purchase/order';
import type { DataSource } from 'typeorm';
import type { TicketingApi } from '../../../ticketing/ticketing.api.ts';
import type { Reservation } from '../../application/ports.ts';
import type { Order } from '../../application/sale-ports.ts';
import type { PurchaseReader, MatchTotals, OrderDetails, OrderSearch } from '../application/purchase-reader.ts';
import {
  holdersPattern,
  idPattern,
  MOST_ORDERS,
  NEWEST_ORDERS,
  NEWEST_WITH_PART,
  partPattern,
  patternsOf,
  TEXT_ANYWHERE,
  TEXT_IN_MATCH,
  ticketIdsFrom,
} from './order-text.sql.ts';
import { ORDER_COLUMNS } from './orders.sql.ts';

/** A row of an order query: the order's fields with its seats and timeline; both are null in SQL if there are none. */
type Row = Order & { seats: Reservation['seats']; timeline: { at: string; event: string }[] };

/** The orders of a match that have one status: their number, what was paid and not refunded, refunded tickets, and seats. */
interface TotalsRow {
  readonly status: string;
  readonly n: number;
  readonly cents: number;
  readonly tickets: number;
  readonly seats: number;
}

/** Start of a query: orders with their seats, in the order in which the hold lists them, and their timelines. */
const SELECT_DETAILS = `
  select ${ORDER_COLUMNS},
    (select json_agg(json_build_object('seatId', s.seat_id, 'sector', s.sector, 'row', s.row_label, 'number', s.number,
                                         'priceCents', s.price_cents) order by s.position)
     from reservation_seats s where s.reservation_id = o.reservation_id) as seats,
    (select json_agg(json_build_object('at', to_char(t.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'event', t.event) order by t.id)
     from order_timeline t where t.order_id = o.id) as timeline
  from orders o`;

/**
 * The filters of operators. One that is null matches every order: the statement is planned for its values, so such a filter costs
 * nothing. Every filter finds its orders by an index, or the newest of them among the newest orders.
 */
const FILTERS = `where ($1::uuid is null or o.match_id = $1) and ($2::uuid is null or o.user_id = $2) and ($3::text is null or o.status = $3)
  and ($4::uuid is null or o.id < $4)`;

/** A hold lasts for a day at most (RESERVATION_HOLD_SECONDS). */
const OLDEST_HOLD = `(select min(expires_at) - interval '1 day' from reservations where not swept)`;

/**
 * SQL: narrows the orders of all matches and fans to those of a page with this status. There is no index of the status, because every
 * purchase would write to it. Without this condition a rare status would be searched for in all orders.
 */
function pageWith(status: OrderStatus): string {
  if (status === 'completed') return '';
  // An unpaid order ends together with its hold, so none is older than the oldest hold that has not ended. An id begins with the time, in
  // milliseconds, at which it was made.
  if (status === 'awaiting_payment')
    return `and o.id >= (lpad(to_hex((extract(epoch from ${OLDEST_HOLD}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;
  // The status is read by a subquery, because a join could be planned as a search in all orders.
  return `and o.id = any(array(select t.order_id from order_timeline t
    where t.event = $3 and ($4::uuid is null or t.order_id < $4) and (select x.status from orders x where x.id = t.order_id) = $3
    order by t.order_id desc limit $5))`;
}

/** Reads orders outside any transaction: for fans from the primary, for operators from the replica of the database. */
export class PostgresPurchaseReader implements PurchaseReader {
  /** Fans ask for an order again and again until it is completed. */
  private readonly ordersById: BatchedReads<Row>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly replicaReads: ReplicaReads,
    private readonly ticketing: Pick<TicketingApi, 'withPart' | 'newestWithPart' | 'ordersOfTicketIds'>,
  ) {
    this.ordersById = new BatchedReads(dataSource, {
      statement: (orderIds) => prepared(`${SELECT_DETAILS} where o.id = any($1::uuid[])`, [orderIds]),
      keyOf: ({ id }) => id,
    });
  }

  async order(orderId: string, userId: string): Promise<OrderDetails | undefined> {
    const [row] = await this.ordersById.rows(orderId);
    return row?.userId === userId ? detailsOf(row) : undefined;
  }

  orders(userId: string, before: string | undefined, limit: number): Promise<OrderDetails[]> {
    const page = 'where o.user_id = $1 and ($2::uuid is null or o.id < $2) order by o.id desc limit $3';
    return details(this.dataSource, page, [userId, before ?? null, limit]);
  }

  async search(search: OrderSearch): Promise<OrderDetails[]> {
    const { matchId = null, userId = null, status = null, text = null, before = null, limit } = search;
    const isStatusOnly = status !== null && (matchId ?? userId ?? text) === null;
    const values = [matchId, userId, status, before, limit];
    const found = text === null ? undefined : await this.textFilter(text, matchId);
    const narrowed = [FILTERS, isStatusOnly ? pageWith(status) : '', found?.condition ?? ''].join(' ');
    const condition = `${narrowed} order by o.id desc limit $5`;
    return this.replicaReads.read('current', (database) => details(database, condition, [...values, ...(found?.values ?? [])]));
  }

  /** With a match, any part of the text finds. Without one, what an index finds, and any part in the newest orders (docs/concepts/operators.md). */
  private async textFilter(text: string, matchId: string | null): Promise<{ condition: string; values: readonly unknown[] }> {
    const part = { pattern: partPattern(text), idPattern: idPattern(text) };
    if (matchId !== null) {
      const byTicket = await this.ticketing.withPart(matchId, part);
      return { condition: TEXT_IN_MATCH, values: [part.pattern, text, byTicket, holdersPattern(text)] };
    }
    const range = ticketIdsFrom(text);
    const found = await Promise.all([
      this.dataSource.query<{ id: string }[]>(NEWEST_WITH_PART, [part.pattern, holdersPattern(text)]),
      this.ticketing.newestWithPart(NEWEST_ORDERS, part),
      range ? this.ticketing.ordersOfTicketIds({ ...range, limit: MOST_ORDERS }) : [],
    ]);
    const [newest, ...byTicket] = found;
    const ids = [...newest.map(({ id }) => id), ...byTicket.flat()];
    return { condition: TEXT_ANYWHERE, values: [text, ids, ...patternsOf(text)] };
  }

  /** The address is that of the fan's newest paid order of the match. */
  async addresses(matchId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.dataSource.query<{ userId: string; email: string }[]>(
      `select distinct on (user_id) user_id as "userId", email from orders
       where user_id = any($2::uuid[]) and match_id = $1 and status = 'completed' order by user_id, id desc`,
      [matchId, userIds],
    );
    return new Map(rows.map(({ userId, email }) => [userId, email]));
  }

  /** The statement returns one row for each order status. `seats` counts the seats of orders that never had tickets. */
  async totals(matchId: string): Promise<MatchTotals> {
    const text = `select status, count(*)::int as n, coalesce(sum(total_cents - refunded_cents), 0)::float8 as cents,
              coalesce(sum(refunded_tickets), 0)::int as tickets,
              coalesce(sum(jsonb_array_length(holders)) filter (where completed_at is null), 0)::int as seats
       from orders where match_id = $1 group by status`;
    const rows = await this.replicaReads.read('current', (database) => database.query<TotalsRow[]>(text, [matchId]));
    const of = (status: string) => rows.find((row) => row.status === status);
    return {
      revenueCents: of('completed')?.cents ?? 0,
      // Tickets refunded one by one, plus the seats of orders that were paid too late and never had tickets.
      refunded: rows.reduce((sum, { tickets }) => sum + tickets, of('refunded')?.seats ?? 0),
      orders: Object.fromEntries(rows.map(({ status, n }) => [status, n])),
    };
  }
}

async function details(
  database: Pick<DataSource, 'query'>,
  condition: string,
  values: readonly unknown[],
): Promise<OrderDetails[]> {
  const rows = await database.query<Row[]>(`${SELECT_DETAILS} ${condition}`, [...values]);
  return rows.map(detailsOf);
}

function detailsOf({ seats, timeline, ...order }: Row): OrderDetails {
  return { order, seats: seats ?? [], timeline: timeline ?? [] };
}

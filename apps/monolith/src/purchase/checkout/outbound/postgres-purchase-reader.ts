import type { DataSource } from 'typeorm';
import type { Reservation } from '../../application/ports.ts';
import type { Order } from '../../application/sale-ports.ts';
import { PurchaseReader, type MatchTotals, type OrderDetails, type OrderSearch } from '../application/purchase-reader.ts';
import { ORDER_COLUMNS } from './postgres-orders.ts';

type Row = Order & { seats: Reservation['seats']; timeline: { at: string; event: string }[] };

const DETAILS = `
  ${ORDER_COLUMNS},
  (select jsonb_agg(jsonb_build_object('seatId', s.seat_id, 'sector', s.sector, 'row', s.row_label, 'number', s.number,
                                       'priceCents', s.price_cents) order by s.position)
   from reservation_seats s where s.reservation_id = o.reservation_id) as seats,
  (select jsonb_agg(jsonb_build_object('at', to_char(t.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'event', t.event) order by t.id)
   from order_timeline t where t.order_id = o.id) as timeline`;

export class PostgresPurchaseReader extends PurchaseReader {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async order(orderId: string, userId: string): Promise<OrderDetails | undefined> {
    const rows = (await this.dataSource.query(`select ${DETAILS} from orders o where o.id = $1 and o.user_id = $2`, [
      orderId,
      userId,
    ])) as Row[];
    return rows[0] && asDetails(rows[0]);
  }

  async orders(userId: string, before: string | undefined, limit: number): Promise<OrderDetails[]> {
    const rows = (await this.dataSource.query(
      `select ${DETAILS} from orders o where o.user_id = $1 and ($2::uuid is null or o.id < $2) order by o.id desc limit $3`,
      [userId, before ?? null, limit],
    )) as Row[];
    return rows.map(asDetails);
  }

  async search({ matchId, userId, status, text, before, limit }: OrderSearch): Promise<OrderDetails[]> {
    const rows = await this.dataSource.query<Row[]>(
      `select ${DETAILS} from orders o
       where ($1::uuid is null or o.match_id = $1) and ($2::uuid is null or o.user_id = $2) and ($3::text is null or o.status = $3)
         and ($4::text is null or o.number = upper($4) or o.intent_id = $4 or lower(o.email) = lower($4))
         and ($5::uuid is null or o.id < $5) order by o.id desc limit $6`,
      [matchId ?? null, userId ?? null, status ?? null, text ?? null, before ?? null, limit],
    );
    return rows.map(asDetails);
  }

  async addresses(matchId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.dataSource.query<{ userId: string; email: string }[]>(
      `select distinct on (user_id) user_id as "userId", email from orders
       where user_id = any($2::uuid[]) and match_id = $1 and status = 'completed' order by user_id, id desc`,
      [matchId, userIds],
    );
    return new Map(rows.map(({ userId, email }) => [userId, email]));
  }

  async totals(matchId: string): Promise<MatchTotals> {
    const rows = (await this.dataSource.query(
      `select status, count(*)::int as n, coalesce(sum(total_cents - refunded_cents), 0)::float8 as cents,
              coalesce(sum(refunded_tickets), 0)::int as tickets,
              coalesce(sum(jsonb_array_length(holders)) filter (where completed_at is null), 0)::int as seats
       from orders where match_id = $1 group by status`,
      [matchId],
    )) as { status: string; n: number; cents: number; tickets: number; seats: number }[];
    const of = (status: string) => rows.find((row) => row.status === status);
    return {
      revenueCents: of('completed')?.cents ?? 0,
      // Tickets refunded one by one, plus the seats of orders that were paid too late and never had tickets.
      refundedSeats: rows.reduce((sum, { tickets }) => sum + tickets, of('refunded')?.seats ?? 0),
      orders: Object.fromEntries(rows.map(({ status, n }) => [status, n])),
    };
  }
}

function asDetails({ seats, timeline, ...order }: Row): OrderDetails {
  return { order, seats: seats ?? [], timeline: timeline ?? [] };
}

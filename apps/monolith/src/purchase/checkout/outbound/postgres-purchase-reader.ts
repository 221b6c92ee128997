import { runUnprepared } from '#platform/postgres/database';
import type { DataSource } from 'typeorm';
import type { Reservation } from '../../application/ports.ts';
import type { Order } from '../../application/sale-ports.ts';
import type { PurchaseReader, MatchTotals, OrderDetails, OrderSearch } from '../application/purchase-reader.ts';
import { ADDRESSES_OF_FANS, MATCH_TOTALS, ORDER_OF_FAN, ORDERS_OF_FAN, SEARCH_ORDERS } from './order-details.sql.ts';

/** A row of an order query: the order's fields with its seats and timeline; both are null in SQL if there are none. */
type Row = Order & { seats: Reservation['seats']; timeline: { at: string; event: string }[] };

/** Reads orders for fans and operators, outside any transaction. */
export class PostgresPurchaseReader implements PurchaseReader {
  constructor(private readonly dataSource: DataSource) {}

  async order(orderId: string, userId: string): Promise<OrderDetails | undefined> {
    const rows = await runUnprepared<Row[]>(this.dataSource, ORDER_OF_FAN.with({ orderId, userId }));
    return rows[0] && asDetails(rows[0]);
  }

  async orders(userId: string, before: string | undefined, limit: number): Promise<OrderDetails[]> {
    const rows = await runUnprepared<Row[]>(this.dataSource, ORDERS_OF_FAN.with({ userId, before: before ?? null, limit }));
    return rows.map(asDetails);
  }

  async search(search: OrderSearch): Promise<OrderDetails[]> {
    const { matchId = null, userId = null, status = null, text = null, before = null, limit } = search;
    const statement = SEARCH_ORDERS.with({ matchId, userId, status, text, before, limit });
    const rows = await runUnprepared<Row[]>(this.dataSource, statement);
    return rows.map(asDetails);
  }

  async addresses(matchId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const statement = ADDRESSES_OF_FANS.with({ matchId, userIds });
    const rows = await runUnprepared<{ userId: string; email: string }[]>(this.dataSource, statement);
    return new Map(rows.map(({ userId, email }) => [userId, email]));
  }

  async totals(matchId: string): Promise<MatchTotals> {
    const rows = await runUnprepared<{ status: string; n: number; cents: number; tickets: number; seats: number }[]>(
      this.dataSource,
      MATCH_TOTALS.with({ matchId }),
    );
    const of = (status: string) => rows.find((row) => row.status === status);
    return {
      revenueCents: of('completed')?.cents ?? 0,
      // Tickets refunded one by one, plus the seats of orders that were paid too late and never had tickets.
      refunded: rows.reduce((sum, { tickets }) => sum + tickets, of('refunded')?.seats ?? 0),
      orders: Object.fromEntries(rows.map(({ status, n }) => [status, n])),
    };
  }
}

function asDetails({ seats, timeline, ...order }: Row): OrderDetails {
  return { order, seats: seats ?? [], timeline: timeline ?? [] };
}

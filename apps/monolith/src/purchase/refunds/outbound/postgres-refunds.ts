import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { Order } from '../../application/sale-ports.ts';
import { countRefunded } from '../../hold/outbound/postgres-fan-seats.ts';
import { freedStatus, seatIsHeld } from '../../seat-is-free.api.ts';
import type { Refunds, Refund } from '../application/refund-ports.ts';

/** Reads orders for refunds, and frees the seats of refunded tickets. */
export class PostgresRefunds implements Refunds {
  constructor(private readonly dataSource: DataSource) {}

  async reservationOf(tx: Transaction, orderId: string): Promise<string | undefined> {
    const text = `select reservation_id as "reservationId" from orders where id = $1`;
    const [order] = await inside(tx).rows<{ reservationId: string }>(text, [orderId]);
    return order?.reservationId;
  }

  /**
   * Frees the seats and adds the refund to the order's sums. Guarantee: only seats that were sold with this order's reservation
   * become free. The fans' rows are locked before the seats. Settling a payment locks in the same order, so there are no deadlocks.
   */
  async giveBack(tx: Transaction, order: Order, { tickets, amount, countedFor }: Refund): Promise<void> {
    if (countedFor.length > 0) await countRefunded(tx, order.matchId, countedFor);
    const seatIds = tickets.map(({ seatId }) => seatId);
    const [freed] = await inside(tx).rows<{ n: number }>(
      `with freed as (
         update seats set status = ${freedStatus('seats')}, reservation_id = null, bound_to = null
         where id = any($1::uuid[]) and reservation_id = $2 and status = 'sold' returning 1
       ), counted as (
         update orders set refunded_tickets = refunded_tickets + $3, refunded_cents = refunded_cents + $4 where id = $5
       ) select count(*)::int as n from freed`,
      [seatIds, order.reservationId, tickets.length, amount.amountCents, order.id],
    );
    if (freed?.n !== tickets.length)
      throw new Error(`order ${order.id}: ${freed?.n} sold seats for ${tickets.length} valid tickets`);
  }

  async timeline(tx: Transaction, orderId: string): Promise<readonly { at: string; event: string }[]> {
    const text = `select at, event from order_timeline where order_id = $1 order by id`;
    const rows = await inside(tx).rows<{ at: Date; event: string }>(text, [orderId]);
    return rows.map(({ at, event }) => ({ at: at.toISOString(), event }));
  }

  async completedOrderIds(matchId: string, page: { after: string | null; limit: number }): Promise<readonly string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(
      `select id from orders where match_id = $1 and ($2::uuid is null or id > $2) and status = 'completed' order by id limit $3`,
      [matchId, page.after, page.limit],
    );
    return rows.map(({ id }) => id);
  }

  /** Only for cancelled matches, whose sale is closed: no holds are added. */
  async hasPayableOrders(matchId: string): Promise<boolean> {
    const [row] = await this.dataSource.query<{ any: boolean }[]>(
      `select exists (select from orders where match_id = $1 and status = 'awaiting_payment')
           or exists (select from seats where match_id = $1 and ${seatIsHeld('seats')}) as any`,
      [matchId],
    );
    return row?.any ?? false;
  }
}

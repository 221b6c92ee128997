import type { Transaction } from '#application/transaction-manager';
import { runUnprepared } from '#platform/postgres/database';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { Order } from '../../application/sale-ports.ts';
import { countRefunded } from '../../hold/outbound/postgres-fan-seats.ts';
import type { Refunds, Refund } from '../application/refund-ports.ts';
import { COMPLETED_ORDER_IDS, FREE_REFUNDED_SEATS, MAY_BE_PAID } from './refunds.sql.ts';

/** Reads orders for refunds, and frees the seats of refunded tickets. */
export class PostgresRefunds implements Refunds {
  constructor(private readonly dataSource: DataSource) {}

  async reservationOf(tx: Transaction, orderId: string): Promise<string | undefined> {
    const rows = await inside(tx).rows<{ reservationId: string }>(
      `select reservation_id as "reservationId" from orders where id = $1`,
      [orderId],
    );
    return rows[0]?.reservationId;
  }

  /** Locks the fans' rows before the seats. Settling a payment locks in the same order, so there are no deadlocks. */
  async giveBack(tx: Transaction, order: Order, { tickets, amount }: Refund): Promise<void> {
    await countRefunded(
      tx,
      order.matchId,
      tickets.map(({ userId }) => userId),
    );
    const [freed] = await inside(tx).rows<{ n: number }>(
      FREE_REFUNDED_SEATS.with({
        orderId: order.id,
        reservationId: order.reservationId,
        seatIds: tickets.map(({ seatId }) => seatId),
        ticketCount: tickets.length,
        cents: amount.amountCents,
      }),
    );
    if (freed?.n !== tickets.length)
      throw new Error(`order ${order.id}: ${freed?.n} sold seats for ${tickets.length} valid tickets`);
  }

  async timeline(tx: Transaction, orderId: string): Promise<readonly { at: string; event: string }[]> {
    const rows = await inside(tx).rows<{ at: Date; event: string }>(
      `select at, event from order_timeline where order_id = $1 order by id`,
      [orderId],
    );
    return rows.map(({ at, event }) => ({ at: at.toISOString(), event }));
  }

  async completedOrderIds(
    matchId: string,
    { after, limit }: { after: string | null; limit: number },
  ): Promise<readonly string[]> {
    const rows = await runUnprepared<{ id: string }[]>(this.dataSource, COMPLETED_ORDER_IDS.with({ matchId, after, limit }));
    return rows.map(({ id }) => id);
  }

  async hasPayableOrders(matchId: string): Promise<boolean> {
    const [row] = await runUnprepared<{ any: boolean }[]>(this.dataSource, MAY_BE_PAID.with({ matchId }));
    return row?.any ?? false;
  }
}

import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { Order } from '../../application/sale-ports.ts';
import { countRefunded } from '../../hold/outbound/postgres-fan-seats.ts';
import { seatIsHeld } from '../../seat-is-free.sql.ts';
import { Refunds, type Refund } from '../application/refund-ports.ts';

const FREE_SEATS = `
  with freed as (
    update seats set status = 'available', reservation_id = null
    where id = any($2::uuid[]) and reservation_id = $3 and status = 'sold' returning 1
  ), counted as (
    update orders set refunded_tickets = refunded_tickets + $4, refunded_cents = refunded_cents + $5 where id = $1
  ) select count(*)::int as n from freed`;

/** Used only for cancelled matches. Their sale is closed, so no new holds can appear. */
const MAY_BE_PAID = `
  select exists (select from orders where match_id = $1 and status = 'awaiting_payment')
      or exists (select from seats where match_id = $1 and ${seatIsHeld('seats')}) as any`;

export class PostgresRefunds extends Refunds {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async reservationOf(tx: Transaction, orderId: string): Promise<string | undefined> {
    const rows = await inside(tx).rows<{ reservationId: string }>(
      `select reservation_id as "reservationId" from orders where id = $1`,
      [orderId],
    );
    return rows[0]?.reservationId;
  }

  /** Locks the fans' rows before the seats, in the same order as settling a payment: no deadlocks. */
  async giveBack(tx: Transaction, order: Order, { tickets, amount }: Refund): Promise<void> {
    await countRefunded(
      tx,
      order.matchId,
      tickets.map(({ userId }) => userId),
    );
    const seatIds = tickets.map(({ seatId }) => seatId);
    const [freed] = await inside(tx).rows<{ n: number }>(FREE_SEATS, [
      order.id,
      seatIds,
      order.reservationId,
      tickets.length,
      amount.amountCents,
    ]);
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
    const rows = await this.dataSource.query<{ id: string }[]>(
      `select id from orders where match_id = $1 and ($2::uuid is null or id > $2) and status = 'completed' order by id limit $3`,
      [matchId, after, limit],
    );
    return rows.map(({ id }) => id);
  }

  async hasPayableOrders(matchId: string): Promise<boolean> {
    const [row] = await this.dataSource.query<{ any: boolean }[]>(MAY_BE_PAID, [matchId]);
    return row?.any ?? false;
  }
}

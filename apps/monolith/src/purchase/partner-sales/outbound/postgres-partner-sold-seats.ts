import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { seatIsFree } from '../../seat-is-free.sql.ts';
import { PartnerSoldSeats, type PartnerSoldSeat, type RecordedPartnerSale } from '../application/ports.ts';

/** Locks seats in the order of their ids, like all code that locks seats. Reads by key only: a scan would conflict with all buyers. */
export class PostgresPartnerSoldSeats extends PartnerSoldSeats {
  async lock(tx: Transaction, matchId: string, seatIds: readonly string[]): Promise<readonly PartnerSoldSeat[]> {
    const seats = await inside(tx).rows<Omit<PartnerSoldSeat, 'soldBy'>>(
      `select id as "seatId", sector_id as "sectorId", expires_at as "heldUntil",
              case when ${seatIsFree('seats')} then 'available' else status end as status
       from seats where id = any($1::uuid[]) and match_id = $2 order by id for update`,
      [seatIds, matchId],
    );
    const blocked = seats.filter(({ status }) => status === 'blocked').map(({ seatId }) => seatId);
    const sales = new Map((await this.salesOf(tx, blocked)).map((sale) => [sale.seatId, sale]));
    return seats.map((seat) => ({ ...seat, soldBy: sales.get(seat.seatId) }));
  }

  async block(
    tx: Transaction,
    { source, eventId, reference, matchId }: RecordedPartnerSale,
    seats: readonly PartnerSoldSeat[],
  ): Promise<void> {
    const seatIds = seats.map(({ seatId }) => seatId);
    await inside(tx).rows(
      `update seats set status = 'blocked', reservation_id = null, expires_at = null where id = any($1::uuid[])`,
      [seatIds],
    );
    // Upsert: a seat that was unblocked and is sold by a partner again still has its old row.
    await inside(tx).rows(
      `insert into seat_blocks (seat_id, match_id, source, event_id, reference) select id, $2, $3, $4, $5 from unnest($1::uuid[]) as s(id)
       on conflict (seat_id) do update set source = excluded.source, event_id = excluded.event_id, reference = excluded.reference, blocked_at = now()`,
      [seatIds, matchId, source, eventId, reference],
    );
  }

  private async salesOf(
    tx: Transaction,
    seatIds: readonly string[],
  ): Promise<readonly { seatId: string; source: string; reference: string }[]> {
    if (seatIds.length === 0) return [];
    return inside(tx).rows(`select seat_id as "seatId", source, reference from seat_blocks where seat_id = any($1::uuid[])`, [
      seatIds,
    ]);
  }
}

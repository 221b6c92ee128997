import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { PartnerSoldSeats, type PartnerSoldSeat, type RecordedPartnerSale } from '../application/ports.ts';
import { BLOCK_SEATS, LOCK_SEATS, PARTNER_SALES_OF_SEATS, RECORD_PARTNER_SALE } from './partner-sold-seats.sql.ts';

/** Seats that a partner sold outside our shop: blocked in `seats`, with the partner in `seat_blocks`. */
export class PostgresPartnerSoldSeats extends PartnerSoldSeats {
  async lock(tx: Transaction, matchId: string, seatIds: readonly string[]): Promise<readonly PartnerSoldSeat[]> {
    const seats = await inside(tx).rows<Omit<PartnerSoldSeat, 'soldBy'>>(LOCK_SEATS.with({ matchId, seatIds }));
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
    await inside(tx).rows(BLOCK_SEATS.with({ seatIds }));
    await inside(tx).rows(RECORD_PARTNER_SALE.with({ seatIds, matchId, source, eventId, reference }));
  }

  private async salesOf(
    tx: Transaction,
    seatIds: readonly string[],
  ): Promise<readonly { seatId: string; source: string; reference: string }[]> {
    if (seatIds.length === 0) return [];
    return inside(tx).rows(PARTNER_SALES_OF_SEATS.with({ seatIds }));
  }
}

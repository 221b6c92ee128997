import type { Transaction } from '#application/transaction-manager';
import type { SeatGeometry } from '#domain/catalog/stadium-layout';
import { newId } from '#platform/ids';
import { runUnprepared } from '#platform/postgres/database';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { SeatState, SectorState } from '../application/ports.ts';
import { COUNT_SECTOR, COUNT_SECTORS, FIND_SECTORS_OF_SEATS, READ_SEATS } from './seat-inventory.sql.ts';

/** Number of seats in one INSERT. With this number 120,000 seats are created in about two seconds. */
const INSERT_BATCH = 10_000;

/**
 * Creates and reads the seats of matches. The data that it reads may be a moment old, so it never decides a hold. The seat of an
 * expired hold is `available`.
 */
export class PostgresSeatInventory {
  constructor(private readonly dataSource: DataSource) {}

  /** Creates the seats of a new match. */
  async layOut(
    tx: Transaction,
    matchId: string,
    sectors: readonly { sectorId: string; seats: readonly SeatGeometry[] }[],
  ): Promise<void> {
    const rows = sectors.flatMap(({ sectorId, seats }) => seats.map((seat) => ({ sectorId, ...seat })));
    for (let from = 0; from < rows.length; from += INSERT_BATCH) {
      const batch = rows.slice(from, from + INSERT_BATCH);
      await inside(tx).rows(
        `insert into seats (id, match_id, sector_id, row_label, number, row_index, x, y, rank)
         select id, $1, sector_id, row_label, number, row_index, x, y, rank
         from unnest($2::uuid[], $3::uuid[], $4::text[], $5::int[], $6::int[], $7::real[], $8::real[], $9::int[])
           as s(id, sector_id, row_label, number, row_index, x, y, rank)`,
        [
          matchId,
          batch.map(() => newId()),
          batch.map(({ sectorId }) => sectorId),
          batch.map(({ row }) => row),
          batch.map(({ number }) => number),
          batch.map(({ rowIndex }) => rowIndex),
          batch.map(({ x }) => x),
          batch.map(({ y }) => y),
          batch.map(({ rank }) => rank),
        ],
      );
    }
  }

  /** The seats of a sector, sorted by row, and in a row by number. */
  async seats(sectorId: string): Promise<readonly SeatState[]> {
    return runUnprepared(this.dataSource, READ_SEATS.with({ sectorId }));
  }

  /** The counts of every sector of a match. */
  async states(matchId: string): Promise<readonly SectorState[]> {
    return runUnprepared(this.dataSource, COUNT_SECTORS.with({ matchId }));
  }

  /** The counts of one sector. `othersHaveSeats`: another sector of the match has free seats. */
  async sectorState(matchId: string, sectorId: string): Promise<SectorState & { othersHaveSeats: boolean }> {
    const [state] = await runUnprepared<(SectorState & { othersHaveSeats: boolean })[]>(
      this.dataSource,
      COUNT_SECTOR.with({ matchId, sectorId }),
    );
    return state ?? { sectorId, available: 0, held: 0, sold: 0, blocked: 0, nextExpiryAt: null, othersHaveSeats: false };
  }

  /** The sector of each of these seats; unknown seats, and seats of other matches, are missing. */
  async sectorsOf(matchId: string, seatIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const seats = await runUnprepared<{ seatId: string; sectorId: string }[]>(
      this.dataSource,
      FIND_SECTORS_OF_SEATS.with({ seatIds, matchId }),
    );
    return new Map(seats.map(({ seatId, sectorId }) => [seatId, sectorId]));
  }
}

import type { Transaction } from '#application/transaction-manager';
import { newId } from '#platform/ids';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import { currentStatus, seatIsFree, seatIsHeld, seatIsHeldByPublic } from '../../seat-is-free.api.ts';
import type { NewSectorSeats } from '../../purchase.api.ts';
import type { SeatState, SectorState } from '../application/ports.ts';

/** Number of seats in one INSERT. With this number 120,000 seats are created in about two seconds. */
const INSERT_BATCH = 10_000;
/** The properties of a new seat, in the order of the parameters of the INSERT. */
const COLUMNS = ['sectorId', 'row', 'number', 'rowIndex', 'x', 'y', 'rank'] as const;

const AVAILABLE = seatIsFree('seats');
const HELD = seatIsHeld('seats');

/** `held`: the condition for the seats that count as held. */
const counts = (held: string): string => `
  count(*) filter (where ${AVAILABLE})::int as available, count(*) filter (where ${held})::int as held,
  count(*) filter (where status = 'sold')::int as sold, count(*) filter (where ${currentStatus('seats')} = 'blocked')::int as blocked,
  min(expires_at) filter (where ${held}) as "nextExpiryAt"`;

/**
 * Creates and reads the seats of matches. Guarantee of each statement that reads: it reads one snapshot of the database, and the
 * seat of a hold that has expired on the database's clock is available. No statement locks a row, so a seat that is available in
 * its result may be taken a moment later: the result never decides a hold.
 */
export class PostgresSeatInventory {
  constructor(private readonly dataSource: DataSource) {}

  /** Creates the seats of a new match. */
  async layOut(tx: Transaction, matchId: string, sectors: readonly NewSectorSeats[]): Promise<void> {
    const rows = sectors.flatMap(({ sectorId, seats }) => seats.map((seat) => ({ sectorId, ...seat })));
    for (let from = 0; from < rows.length; from += INSERT_BATCH) {
      const batch = rows.slice(from, from + INSERT_BATCH);
      const columns = COLUMNS.map((column) => batch.map((seat) => seat[column]));
      await inside(tx).rows(
        `insert into seats (id, match_id, sector_id, row_label, number, row_index, x, y, rank)
         select id, $1, sector_id, row_label, number, row_index, x, y, rank
         from unnest($2::uuid[], $3::uuid[], $4::text[], $5::int[], $6::int[], $7::real[], $8::real[], $9::int[])
           as s(id, sector_id, row_label, number, row_index, x, y, rank)`,
        [matchId, batch.map(() => newId()), ...columns],
      );
    }
  }

  /** The seats of a sector, sorted by row, and in a row by number and rank. READ_SEAT_LETTERS has the same order. */
  async seats(sectorId: string): Promise<readonly SeatState[]> {
    return this.dataSource.query(
      `select id as "seatId", row_label as row, number, row_index as "rowIndex", x, y, rank,
              ${currentStatus('seats')} as status
       from seats where sector_id = $1 order by row_index, number, rank`,
      [sectorId],
    );
  }

  /** The counts of every sector of a match, read from this database. Scans all seats of the match. */
  async states(database: Pick<DataSource, 'query'>, matchId: string): Promise<readonly SectorState[]> {
    const text = `select sector_id as "sectorId", ${counts(HELD)} from seats where match_id = $1 group by sector_id`;
    return database.query(text, [matchId]);
  }

  /**
   * The counts of one sector. Held seats of quotas are not counted: the public never gets them. `othersHaveSeats`: another sector of the match has free seats. Runs for each refused hold, so it must
   * not scan all seats of the match: in a run with 470 refusals, counting a stadium of 20,000 seats each time took longer than all
   * other work for them.
   */
  async sectorState(matchId: string, sectorId: string): Promise<SectorState & { othersHaveSeats: boolean }> {
    const [state] = await this.dataSource.query<(SectorState & { othersHaveSeats: boolean })[]>(
      `select $2::uuid as "sectorId", ${counts(seatIsHeldByPublic('seats'))},
              -- Stops at the first free seat.
              exists (select from seats where match_id = $1 and sector_id <> $2 and ${AVAILABLE}) as "othersHaveSeats"
       from seats where sector_id = $2`,
      [matchId, sectorId],
    );
    return state ?? { sectorId, available: 0, held: 0, sold: 0, blocked: 0, nextExpiryAt: null, othersHaveSeats: false };
  }

  /** The sector of each of these seats; unknown seats, and seats of other matches, are missing. */
  async sectorsOf(matchId: string, seatIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const seats = await this.dataSource.query<{ seatId: string; sectorId: string }[]>(
      `select id as "seatId", sector_id as "sectorId" from seats where id = any($1::uuid[]) and match_id = $2`,
      [seatIds, matchId],
    );
    return new Map(seats.map(({ seatId, sectorId }) => [seatId, sectorId]));
  }
}

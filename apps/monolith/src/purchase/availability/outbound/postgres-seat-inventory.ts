import type { Transaction } from '#application/transaction-manager';
import type { SeatGeometry } from '#domain/catalog/stadium-layout';
import { newId } from '#platform/ids';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import { seatIsFree, seatIsHeld } from '../../seat-is-free.sql.ts';
import { SeatInventory, type SeatState, type SectorState } from '../application/ports.ts';

const AVAILABLE = seatIsFree('seats');
const HELD = seatIsHeld('seats');

const COUNTS = `
  count(*) filter (where ${AVAILABLE})::int as available, count(*) filter (where ${HELD})::int as held,
  count(*) filter (where status = 'sold')::int as sold, count(*) filter (where status = 'blocked')::int as blocked,
  min(expires_at) filter (where ${HELD}) as "nextExpiryAt"`;

/** 10,000 rows a statement: 120,000 places are laid out in about two seconds. */
const CHUNK = 10_000;

export class PostgresSeatInventory extends SeatInventory {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async layOut(
    tx: Transaction,
    matchId: string,
    sectors: readonly { sectorId: string; places: readonly SeatGeometry[] }[],
  ): Promise<void> {
    const rows = sectors.flatMap(({ sectorId, places }) => places.map((place) => ({ sectorId, ...place })));
    for (let from = 0; from < rows.length; from += CHUNK) {
      const chunk = rows.slice(from, from + CHUNK);
      await inside(tx).rows(
        `insert into seats (id, match_id, sector_id, row_label, number, row_index, x, y, rank)
         select id, $1, sector_id, row_label, number, row_index, x, y, rank
         from unnest($2::uuid[], $3::uuid[], $4::text[], $5::int[], $6::int[], $7::real[], $8::real[], $9::int[])
           as s(id, sector_id, row_label, number, row_index, x, y, rank)`,
        [
          matchId,
          chunk.map(() => newId()),
          chunk.map(({ sectorId }) => sectorId),
          chunk.map(({ row }) => row),
          chunk.map(({ number }) => number),
          chunk.map(({ rowIndex }) => rowIndex),
          chunk.map(({ x }) => x),
          chunk.map(({ y }) => y),
          chunk.map(({ rank }) => rank),
        ],
      );
    }
  }

  async seats(sectorId: string): Promise<readonly SeatState[]> {
    return this.dataSource.query(
      `select id as "seatId", row_label as row, number, row_index as "rowIndex", x, y, rank,
              case when ${AVAILABLE} then 'available' else status end as status
       from seats where sector_id = $1 order by row_index, number, rank`,
      [sectorId],
    );
  }

  async states(matchId: string): Promise<readonly SectorState[]> {
    return this.dataSource.query(`select sector_id as "sectorId", ${COUNTS} from seats where match_id = $1 group by sector_id`, [
      matchId,
    ]);
  }

  /** A stadium of 20,000 counted anew for each of 470 refusals took longer than everything else about them. */
  async sectorState(matchId: string, sectorId: string): Promise<SectorState & { othersHaveSeats: boolean }> {
    const rows = await this.dataSource.query<(SectorState & { othersHaveSeats: boolean })[]>(
      `select $2::uuid as "sectorId", ${COUNTS},
              exists (select from seats where match_id = $1 and sector_id <> $2 and ${AVAILABLE}) as "othersHaveSeats"
       from seats where sector_id = $2`,
      [matchId, sectorId],
    );
    return rows[0] ?? { sectorId, available: 0, held: 0, sold: 0, blocked: 0, nextExpiryAt: null, othersHaveSeats: false };
  }

  async sectorsOf(matchId: string, seatIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = (await this.dataSource.query(`select id, sector_id from seats where id = any($1::uuid[]) and match_id = $2`, [
      seatIds,
      matchId,
    ])) as { id: string; sector_id: string }[];
    return new Map(rows.map((row) => [row.id, row.sector_id]));
  }
}

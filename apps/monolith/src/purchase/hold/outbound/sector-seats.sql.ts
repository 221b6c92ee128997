import { namedSql } from '#platform/postgres/named-sql';
import { seatIsFree } from '../../seat-is-free.sql.ts';

/** What never changes of a sector's seats. The index in these arrays is the seat index: row by row, seat by seat. */
export interface SectorSeats {
  readonly ids: readonly string[];
  readonly rows: readonly (string | null)[];
  readonly numbers: readonly (number | null)[];
  readonly rowIndices: readonly number[];
  readonly ranks: readonly number[];
}

/** What changes, by seat index, as of one read. */
export interface SeatStates {
  /** One letter for each seat: `FREE` or another. */
  readonly letters: string;
  readonly ctids: readonly string[];
  /** When the first hold of the sector ends. */
  readonly nextExpiryMs: number | null;
}

export const FREE = 'f';

/** All values in one row: 2,000 rows would keep the event loop busy for 10 ms. */
const inSeatOrder = (column: string): string =>
  `coalesce(json_agg(${column} order by row_index, coalesce(number, rank), rank), '[]')`;

export const SECTOR_SEATS = namedSql<{ readonly sectorId: string }>(
  'sector-seats',
  `select ${inSeatOrder('id')} as ids, ${inSeatOrder('row_label')} as rows, ${inSeatOrder('number')} as numbers,
          ${inSeatOrder('row_index')} as "rowIndices", ${inSeatOrder('rank')} as ranks
   from seats where sector_id = :sectorId`,
);

export const SEAT_STATES = namedSql<{ readonly sectorId: string }>(
  'seat-states',
  `select coalesce(string_agg(case when is_free then '${FREE}' else '-' end, '' order by row_index, coalesce(number, rank), rank), '')
            as letters,
          ${inSeatOrder('row_ctid')} as ctids,
          (extract(epoch from min(expires_at) filter (where not is_free)) * 1000)::float8 as "nextExpiryMs"
   from (select row_index, number, rank, ctid::text as row_ctid, expires_at, ${seatIsFree('seats')} as is_free
         from seats where sector_id = :sectorId) s`,
);

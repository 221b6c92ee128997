import { namedSql } from '#platform/postgres/named-sql';
import { seatIsFree } from '../../seat-is-free.sql.ts';

/**
 * The data of a sector's seats that never changes. The index in these arrays is the seat index, the number of a seat in a sector
 * map: row by row, seat by seat.
 */
export interface SectorSeats {
  readonly ids: readonly string[];
  readonly rows: readonly (string | null)[];
  readonly numbers: readonly (number | null)[];
  readonly rowIndices: readonly number[];
  readonly ranks: readonly number[];
}

/** The data of a sector's seats that changes, as it was at one moment. The index is the seat index, as in SectorSeats. */
export interface SeatStates {
  /** One letter for each seat: `FREE` for a free seat, `-` for any other. */
  readonly letters: string;
  readonly ctids: readonly string[];
  /** The time at which the next hold in the sector ends, in ms since 1970; null without holds. */
  readonly nextExpiryMs: number | null;
}

/** The letter of a free seat in `SeatStates.letters`. */
export const FREE = 'f';

/**
 * SQL expression: the values of a column for all seats as one JSON array, by seat index. Reading 2,000 rows instead would keep
 * the event loop busy for 10 ms.
 */
const inSeatOrder = (column: string): string =>
  `coalesce(json_agg(${column} order by row_index, coalesce(number, rank), rank), '[]')`;

/** Reads SectorSeats, in one row. */
export const SECTOR_SEATS = namedSql<{ readonly sectorId: string }>(
  'sector-seats',
  `select ${inSeatOrder('id')} as ids, ${inSeatOrder('row_label')} as rows, ${inSeatOrder('number')} as numbers,
          ${inSeatOrder('row_index')} as "rowIndices", ${inSeatOrder('rank')} as ranks
   from seats where sector_id = :sectorId`,
);

/** Reads SeatStates, in one row. */
export const SEAT_STATES = namedSql<{ readonly sectorId: string }>(
  'seat-states',
  `select coalesce(string_agg(case when is_free then '${FREE}' else '-' end, '' order by row_index, coalesce(number, rank), rank), '')
            as letters,
          ${inSeatOrder('row_ctid')} as ctids,
          (extract(epoch from min(expires_at) filter (where not is_free)) * 1000)::float8 as "nextExpiryMs"
   from (select row_index, number, rank, ctid::text as row_ctid, expires_at, ${seatIsFree('seats')} as is_free
         from seats where sector_id = :sectorId) s`,
);

import { namedSql } from '#platform/postgres/named-sql';
import { seatIsFree } from '../../seat-is-free.api.ts';

/** The properties of a sector's seats that never change. The index in each array is the seat index: row by row, seat by seat. */
export interface SectorSeats {
  readonly ids: readonly string[];
  readonly rows: readonly (string | null)[];
  readonly numbers: readonly (number | null)[];
  readonly rowIndices: readonly number[];
  readonly ranks: readonly number[];
}

/** The properties of a sector's seats that change, as of one read, in the order of the seat indices. */
export interface SeatStates {
  /** One letter for each seat: `FREE` for a free seat, `-` for any other. */
  readonly letters: string;
  /** Where PostgreSQL keeps the row of each seat. */
  readonly ctids: readonly string[];
  /** When the first hold of the sector ends that makes a seat free. */
  readonly nextExpiryMs: number | null;
}

/** The letter of a free seat in `SeatStates.letters`. */
export const FREE = 'f';

/** SQL that collects a column of all seats into one JSON array: reading 2,000 rows would keep the event loop busy for 10 ms. */
const inSeatOrder = (column: string): string =>
  `coalesce(json_agg(${column} order by row_index, coalesce(number, rank), rank), '[]')`;

/** Reads the `SectorSeats` of a sector. */
export const SECTOR_SEATS = namedSql<{ readonly sectorId: string }>(
  'sector-seats',
  `select ${inSeatOrder('id')} as ids, ${inSeatOrder('row_label')} as rows, ${inSeatOrder('number')} as numbers,
          ${inSeatOrder('row_index')} as "rowIndices", ${inSeatOrder('rank')} as ranks
   from seats where sector_id = :sectorId`,
);

/** Reads the `SeatStates` of a sector. */
export const SEAT_STATES = namedSql<{ readonly sectorId: string }>(
  'seat-states',
  `select coalesce(string_agg(case when is_free then '${FREE}' else '-' end, '' order by row_index, coalesce(number, rank), rank), '')
            as letters,
          ${inSeatOrder('row_ctid')} as ctids,
          (extract(epoch from min(expires_at) filter (where not is_free and is_public)) * 1000)::float8 as "nextExpiryMs"
   from (select row_index, number, rank, ctid::text as row_ctid, expires_at, ${seatIsFree('seats')} as is_free, quota_id is null as is_public
         from seats where sector_id = :sectorId) s`,
);

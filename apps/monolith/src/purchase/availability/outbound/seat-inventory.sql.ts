import { namedSql } from '#platform/postgres/named-sql';
import { seatIsFree, seatIsHeld } from '../../seat-is-free.sql.ts';

/*
 * Statements that read seats. Guarantee of each statement: all values are of one moment, by the database's clock, and the seat of
 * an expired hold is available. No statement locks a row, so a seat that is available in a result may be taken a moment later.
 */

const AVAILABLE = seatIsFree('seats');
const HELD = seatIsHeld('seats');

const COUNTS = `
  count(*) filter (where ${AVAILABLE})::int as available, count(*) filter (where ${HELD})::int as held,
  count(*) filter (where status = 'sold')::int as sold, count(*) filter (where status = 'blocked')::int as blocked,
  min(expires_at) filter (where ${HELD}) as "nextExpiryAt"`;

/**
 * All seats of a sector with their geometry, in the order of row, number and rank. READ_SEAT_LETTERS returns the states of the
 * seats in the same order.
 */
export const READ_SEATS = namedSql<{ readonly sectorId: string }>(
  'read-seats',
  `select id as "seatId", row_label as row, number, row_index as "rowIndex", x, y, rank,
          case when ${AVAILABLE} then 'available' else status end as status
   from seats where sector_id = :sectorId order by row_index, number, rank`,
);

/** Counts the seats of each sector of a match by status. Scans all seats of the match. */
export const COUNT_SECTORS = namedSql<{ readonly matchId: string }>(
  'count-sectors',
  `select sector_id as "sectorId", ${COUNTS} from seats where match_id = :matchId group by sector_id`,
);

/**
 * Counts the seats of one sector by status, and reads whether another sector of the match has a free seat. It runs for each
 * refused hold, so it must not scan the whole match: with 470 refusals, counting a stadium of 20,000 seats each time took longer
 * than all other work on these refusals.
 */
export const COUNT_SECTOR = namedSql<{ readonly matchId: string; readonly sectorId: string }>(
  'count-sector',
  `select :sectorId::uuid as "sectorId", ${COUNTS},
          -- Stops at the first free seat.
          exists (select from seats where match_id = :matchId and sector_id <> :sectorId and ${AVAILABLE}) as "othersHaveSeats"
   from seats where sector_id = :sectorId`,
);

/** Finds the sector of each seat. Unknown seats, and seats of other matches, are missing from the result. */
export const FIND_SECTORS_OF_SEATS = namedSql<{ readonly seatIds: readonly string[]; readonly matchId: string }>(
  'find-sectors-of-seats',
  `select id as "seatId", sector_id as "sectorId" from seats where id = any(:seatIds::uuid[]) and match_id = :matchId`,
);

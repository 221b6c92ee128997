import { namedSql } from '#platform/postgres/named-sql';
import { seatIsFree, seatIsHeld, seatIsUnused, seatIsUnusedInQuota } from '../seat-is-free.api.ts';

/*
 * The places of quotas.
 *
 * READ_FREE_PLACES and COUNT_PLACES read ranges of seats and run outside of transactions. The other statements write, and run at
 * SERIALIZABLE while buyers hold seats of the same match; MOVE_PLACES and MOVE_UNLOCKED_PLACES also at READ COMMITTED.
 *
 * How the writing statements stay out of the way of buyers
 * - One UPDATE reads and changes row by row, by the primary key: PostgreSQL drops the predicate lock of a row when the same
 *   transaction changes the row. So a move of 8,000 places keeps no predicate lock on a seat, and no hold is a conflict with it. An
 *   index on the match or the quota would lock also rows that buyers change.
 * - The conditions keep the planner on the primary key: no index supports `is not distinct from`, and no condition says
 *   `quota_id is not null`, because then the planner reads all of the partial index `seats_by_quota`.
 * - The rows are locked in the order of their ids, because the index is read in its order. All code that waits for locks of seats
 *   uses this order, so there are no deadlocks. A bitmap scan would use the order of the table. A hold waits for no lock.
 */

/** SQL condition: the place is free for its owner: for sale to the public, or unused in its quota. */
export const isFreeForOwner = `(${seatIsFree('seats')} or ${seatIsUnusedInQuota('seats')})`;

/** Sent before MOVE_PLACES, BIND_PLACES and UNBIND_PLACES; USE_ANY_INDEX is sent after them. */
export const USE_PRIMARY_KEY = `select set_config('enable_bitmapscan', 'off', true)`;
export const USE_ANY_INDEX = `select set_config('enable_bitmapscan', 'on', true)`;

/**
 * Gives places another owner. Only places that are free and belong to `from` are moved; returns those that were not. Tests change
 * this text to remove the guard.
 */
export const MOVE_PLACES_SQL = `
  with moved as (
    update seats set quota_id = :to::uuid, bound_to = null, reservation_id = null, expires_at = null,
                     status = case when :to::uuid is null then 'available' else 'blocked' end
    where id = any(:seatIds::uuid[]) and match_id is not distinct from :matchId::uuid
      and quota_id is not distinct from :from::uuid and bound_to is not distinct from :boundTo::uuid and ${isFreeForOwner}
    returning id, sector_id
  )
  select array(select distinct sector_id from moved) as "sectorIds",
         array(select id from unnest(:seatIds::uuid[]) as wanted(id) where not exists (select from moved where moved.id = wanted.id))
           as "notFree"`;

interface MoveParameters {
  readonly seatIds: readonly string[];
  readonly matchId: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly boundTo: string | null;
}

export const MOVE_PLACES = namedSql<MoveParameters>('move-places', MOVE_PLACES_SQL);

/** The same, but waits for no row: a place that another transaction has locked counts as not free. */
export const MOVE_UNLOCKED_PLACES = namedSql<MoveParameters>(
  'move-unlocked-places',
  MOVE_PLACES_SQL.replace(
    'id = any(:seatIds::uuid[])',
    `id = any(array(select id from seats where id = any(:seatIds::uuid[]) for no key update skip locked))`,
  ),
);

/**
 * Binds free places of a quota and returns how many were bound. `owners`: a JSON object, seat id → invitation or pending move. Tests
 * change this text to remove the guard.
 */
export const BIND_PLACES_SQL = `
  with bound as (
    update seats set bound_to = (:owners::jsonb ->> id::text)::uuid, status = 'blocked', reservation_id = null, expires_at = null
    where id = any(:seatIds::uuid[]) and quota_id is not distinct from :quotaId::uuid and bound_to is null
      and ${seatIsUnused('seats')} returning 1
  )
  select count(*)::int as bound from bound`;

export const BIND_PLACES = namedSql<{
  readonly seatIds: readonly string[];
  readonly quotaId: string;
  readonly owners: string;
}>('bind-places', BIND_PLACES_SQL);

/**
 * Unbinds places that are still bound as `owners` says, and returns the ids of those that are free in their quota now. Sold places
 * stay bound. A held place stays held, so it is free when its hold ends.
 */
export const UNBIND_PLACES = namedSql<{ readonly seatIds: readonly string[]; readonly owners: string }>(
  'unbind-places',
  `
  with unbound as (
    update seats set bound_to = null, status = case when ${seatIsHeld('seats')} then 'held' else 'blocked' end,
                     reservation_id = case when ${seatIsHeld('seats')} then reservation_id end,
                     expires_at = case when ${seatIsHeld('seats')} then expires_at end
    where id = any(:seatIds::uuid[]) and bound_to is not distinct from (:owners::jsonb ->> id::text)::uuid and bound_to is not null
      and status <> 'sold' returning id, status
  )
  select id as "seatId" from unbound where status = 'blocked'`,
);

/** The free places of one sector. The index in each array is that of the place, best place first. */
export interface FreePlacesOfSector {
  readonly sectorId: string;
  readonly ids: readonly string[];
  readonly rows: readonly (string | null)[];
  readonly numbers: readonly (number | null)[];
  readonly rowIndices: readonly number[];
  readonly ranks: readonly number[];
}

/** Columns as JSON, as in `sector-seats.sql.ts`: reading 120,000 rows would keep the event loop busy for half a second. */
const byRank = (column: string): string => `json_agg(${column} order by rank)`;

/**
 * The free places of a quota, or of the public if `quotaId` is null; of all sectors if `sectorIds` is null. Planned for its values:
 * then `quota_id = …` uses the index of the quota. `is not distinct from` would read all places of the match.
 */
export const READ_FREE_PLACES = namedSql<{
  readonly matchId: string;
  readonly quotaId: string | null;
  readonly sectorIds: readonly string[] | null;
}>(
  'read-free-places',
  `
  select sector_id as "sectorId", ${byRank('id')} as ids, ${byRank('row_label')} as rows, ${byRank('number')} as numbers,
         ${byRank('row_index')} as "rowIndices", ${byRank('rank')} as ranks
  from seats
  where match_id = :matchId::uuid and (quota_id = :quotaId::uuid or (:quotaId::uuid is null and quota_id is null))
    and bound_to is null and (:sectorIds::uuid[] is null or sector_id = any(:sectorIds::uuid[])) and ${isFreeForOwner}
  group by sector_id order by sector_id`,
);

/** The sectors of those of these places that the match has. */
export const READ_SECTORS_OF_PLACES = namedSql<{ readonly matchId: string; readonly seatIds: readonly string[] }>(
  'read-sectors-of-places',
  `select id as "seatId", sector_id as "sectorId" from seats where id = any(:seatIds::uuid[]) and match_id = :matchId::uuid`,
);

/** The labels of these places. */
export const READ_LABELS_OF_PLACES = namedSql<{ readonly seatIds: readonly string[] }>(
  'read-labels-of-places',
  `select id as "seatId", row_label as row, number from seats where id = any(:seatIds::uuid[])`,
);

/**
 * Counts places by owner and sector: those of a match, or of quotas. A place that is bound to a pending move has a row in
 * `quota_move_requests`; other bound places are invited.
 */
const COUNTS = `
  select seats.quota_id as "quotaId", seats.sector_id as "sectorId", count(*)::int as total,
         count(*) filter (where bound_to is null and ${isFreeForOwner})::int as free,
         count(*) filter (where bound_to is not null and pending.id is null and ${isFreeForOwner})::int as invited,
         count(*) filter (where ${seatIsHeld('seats')} or (pending.id is not null and ${isFreeForOwner}))::int as held,
         count(*) filter (where seats.status = 'sold')::int as sold
  from seats left join quota_move_requests pending on pending.id = seats.bound_to`;

export const COUNT_PLACES_OF_MATCH = namedSql<{ readonly matchId: string }>(
  'count-places-of-match',
  `${COUNTS} where seats.match_id = :matchId::uuid group by seats.quota_id, seats.sector_id order by 1 nulls first, 2`,
);

export const COUNT_PLACES_OF_QUOTAS = namedSql<{ readonly quotaIds: readonly string[] }>(
  'count-places-of-quotas',
  `${COUNTS} where seats.quota_id = any(:quotaIds::uuid[]) group by seats.quota_id, seats.sector_id order by 1, 2`,
);

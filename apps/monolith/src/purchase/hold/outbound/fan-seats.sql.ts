import type { UnpaidHold } from '#domain/purchase/hold-cooldown';
import { namedSql } from '#platform/postgres/named-sql';

/** How many seats of a match a fan has, and the revision of the fan's row at the time of the count. */
export interface FanSeats {
  /**
   * Seats that the fan holds or has ordered, and tickets that the fan ever bought or accepted, also those given away since. Without
   * refunded tickets and expired holds.
   */
  readonly taken: number;
  /** Grows whenever the fan gets seats of the match. HOLD_BATCH holds nothing if it has grown since the count. */
  readonly revision: number;
  /** Ids of the reservations that were counted. */
  readonly living: readonly string[];
  /** The fan's holds of the match that ended unpaid, as far as they may count for a cooldown. Null: none, the common case. */
  readonly unpaid: readonly UnpaidHold[] | null;
  /** When this was read, on the database's clock. */
  readonly asOfMs: number;
}

/** A fan without a row in `fan_seats`: the common case. */
export const FAN_WITHOUT_SEATS: FanSeats = { taken: 0, revision: 0, living: [], unpaid: null, asOfMs: 0 };

/** SQL: what a paid order changes in its fan's row of `fan_seats`: the count of unpaid holds starts again at 0. */
export const UNPAID_COUNT_FROM_NOW = 'unpaid_ids = null, unpaid_from = now()';

/**
 * Counts fans' seats, and reads their unpaid holds: of fan `userIds[i]` at match `matchIds[i]`. The results have the same order. Reads
 * rows by key only.
 */
export const COUNT_FAN_SEATS = namedSql<{ readonly matchIds: readonly string[]; readonly userIds: readonly string[] }>(
  'count-fan-seats',
  `
  select coalesce(f.revision, 0) as revision, counted.taken + coalesce(f.received, 0) as taken, counted.living, counted.unpaid,
         date_part('epoch', now()) * 1000 as "asOfMs"
  from unnest(:matchIds::uuid[], :userIds::uuid[]) with ordinality as asked(match_id, user_id, position)
       -- A subquery by key: with nested loops off, the planner would otherwise read the whole table.
       left join (select * from fan_seats where user_id = any(:userIds) and match_id = any(:matchIds)) f using (match_id, user_id)
       cross join lateral (
         select coalesce(sum(r.quantity) filter (where r.counts), 0)::int as taken,
                coalesce(array_agg(r.id) filter (where r.counts), '{}') as living,
                -- A hold ends at its expiry, whenever it is swept, or earlier by a release.
                jsonb_agg(jsonb_build_object('id', r.id, 'fromMs', date_part('epoch', r.created_at) * 1000,
                                             'toMs', date_part('epoch', least(r.ended_at, r.expires_at)) * 1000))
                  filter (where not r.counts and r.created_at >= coalesce(f.unpaid_from, '-infinity')) as unpaid
         from (select *, status = 'completed' or (status in ('held', 'ordered') and expires_at > now()) as counts
               from reservations where id = any(f.reservation_ids || f.unpaid_ids)) r
       ) counted
  order by asked.position`,
);

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
}

/** A fan without a row in `fan_seats`: the common case. */
export const FAN_WITHOUT_SEATS: FanSeats = { taken: 0, revision: 0, living: [] };

/** Counts fans' seats: of fan `userIds[i]` at match `matchIds[i]`. The results have the same order. Reads rows by key only. */
export const COUNT_FAN_SEATS = namedSql<{ readonly matchIds: readonly string[]; readonly userIds: readonly string[] }>(
  'count-fan-seats',
  `
  select coalesce(f.revision, 0) as revision, counted.taken + coalesce(f.received, 0) as taken, counted.living
  from unnest(:matchIds::uuid[], :userIds::uuid[]) with ordinality as asked(match_id, user_id, position)
       -- A subquery by key: with nested loops off, the planner would otherwise read the whole table.
       left join (select * from fan_seats where user_id = any(:userIds) and match_id = any(:matchIds)) f using (match_id, user_id)
       cross join lateral (
         select coalesce(sum(r.quantity), 0)::int as taken, coalesce(array_agg(r.id), '{}') as living
         from reservations r
         where r.id = any(f.reservation_ids) and (r.status = 'completed' or (r.status in ('held', 'ordered') and r.expires_at > now()))
       ) counted
  order by asked.position`,
);

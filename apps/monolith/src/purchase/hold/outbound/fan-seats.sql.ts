import { namedSql } from '#platform/postgres/named-sql';

/** How many seats of a match a fan has, with the revision and the reservations that this count depends on. */
export interface FanSeats {
  /**
   * Number of seats that are held, ordered, bought or received, minus those given away or refunded. Expired holds do not count.
   */
  readonly taken: number;
  /** A number that grows whenever the fan gets seats of the match. HOLD_BATCH holds nothing if it has grown since the count. */
  readonly revision: number;
  /** Ids of the reservations that were counted: they are paid, or their hold has not expired. */
  readonly living: readonly string[];
}

/** The count of a fan who has no row in `fan_seats`, because this fan has never had a seat of the match. The common case. */
export const NEWCOMER: FanSeats = { taken: 0, revision: 0, living: [] };

/** Counts the seats of each fan, in the order of `userIds`; `matchIds` has the match for each fan. Reads rows by key only. */
export const COUNT_FAN_SEATS = namedSql<{ readonly matchIds: readonly string[]; readonly userIds: readonly string[] }>(
  'count-fan-seats',
  `
  select coalesce(f.revision, 0) as revision, counted.taken + coalesce(f.received, 0) as taken, counted.living
  from unnest(:matchIds::uuid[], :userIds::uuid[]) with ordinality as asked(match_id, user_id, position)
       -- A subquery by key, because without it and with nested loops off the planner would read the whole table.
       left join (select * from fan_seats where user_id = any(:userIds) and match_id = any(:matchIds)) f using (match_id, user_id)
       cross join lateral (
         select coalesce(sum(r.quantity), 0)::int as taken, coalesce(array_agg(r.id), '{}') as living
         from reservations r
         where r.id = any(f.reservation_ids) and (r.status = 'completed' or (r.status in ('held', 'ordered') and r.expires_at > now()))
       ) counted
  order by asked.position`,
);

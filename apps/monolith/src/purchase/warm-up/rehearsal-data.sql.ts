import { namedSql } from '#platform/postgres/named-sql';

/** Adds holds of two seats each, with their seats and fans. Only in a transaction that is rolled back. */
export const ADD_REHEARSAL_HOLDS = namedSql<{
  readonly matchId: string;
  readonly sectorId: string;
  readonly holdIds: readonly string[];
  readonly userIds: readonly string[];
  /** Two for each hold. */
  readonly seatIds: readonly string[];
  /** The number of the first seat: a sector has each rank once. */
  readonly firstRank: number;
}>(
  'add-rehearsal-holds',
  `
  with holds as (
    select hold_id, user_id, index, (:seatIds::uuid[])[index * 2 - 1 : index * 2] as seat_ids
    from unnest(:holdIds::uuid[], :userIds::uuid[]) with ordinality as h(hold_id, user_id, index)
  ), reserved as (
    insert into reservations (id, match_id, sector_id, user_id, status, seat_ids, quantity, sector, price_cents, together, total_cents,
                              currency, expires_at)
    select hold_id, :matchId, :sectorId, user_id, 'held', seat_ids, 2, 'Rehearsal', 100, true, 200, 'EUR', now() + interval '1 hour'
    from holds
  ), counted as (
    insert into fan_seats (match_id, user_id, revision, reservation_ids) select :matchId, user_id, 1, array[hold_id] from holds
  )
  insert into seats (id, match_id, sector_id, row_label, number, row_index, rank, status, reservation_id, expires_at)
  select s.seat_id, :matchId, :sectorId, '1', s.position, 1, :firstRank::int + index * 2 + s.position, 'held', hold_id, now() + interval '1 hour'
  from holds cross join unnest(seat_ids) with ordinality as s(seat_id, position)`,
);

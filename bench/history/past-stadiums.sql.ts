import type { Filling, HistorySize } from './history-size.ts';

/** Sectors of each past match. */
export const SECTORS = 10;
/** SQL condition: the past match m was cancelled. */
export const IS_CANCELLED = 'm % 50 = 5';
/** Places of a sector that nobody bought; those of quotas are of them. */
const UNSOLD = 60;
const QUOTAS = 4;
const PLACES_OF_QUOTA = 50;

const MATCH_ID = `pg_temp.past_id('match', m, pg_temp.past_opening(m))`;
const SECTOR_ID = `pg_temp.past_id('sector', m * ${SECTORS} + s, pg_temp.past_opening(m))`;
const SEAT_ID = `pg_temp.past_id('seat', (m * ${SECTORS} + s) * 1000000 + rank, pg_temp.past_opening(m))`;
const QUOTA_ID = `pg_temp.past_id('quota', m * ${QUOTAS} + s, pg_temp.past_opening(m))`;
/** The number in its match of the order of a place. Two orders share three neighbouring places: the first has one, the second the others. */
const PLACE_IN_SALE = `(2 * (rank / 3) + least(rank % 3, 1)) * ${SECTORS} + s`;

const seatsOfSector = ({ ordersOfMatch }: HistorySize): number => (3 * ordersOfMatch) / (2 * SECTORS) + UNSOLD;

/** Matches with their sectors and seats. */
export function stadiumFillings(size: HistorySize): readonly Filling[] {
  const { matches, ordersOfMatch } = size;
  const perSector = seatsOfSector(size);
  const everySector = `generate_series(0, ${matches - 1}) as m cross join generate_series(0, ${SECTORS - 1}) as s`;
  return [
    // No sale ends by itself: operators have closed only every second one.
    [
      'matches',
      `select ${MATCH_ID} as id, 'Hrvatska' as home, 'Guest ' || m as away, (array['Maksimir, Zagreb', 'Poljud, Split', 'Opus Arena, Osijek'])[1 + m % 3] as venue,
              pg_temp.past_opening(m) + interval '20 hours' as kickoff_at, 'EUR' as currency, 4 as max_tickets_per_fan, m % 2 = 1 as queue_required,
              pg_temp.past_opening(m) as opens_at, case when m / 2 % 2 = 0 or ${IS_CANCELLED} then 'closed' else 'open' end as sale_status,
              case when ${IS_CANCELLED} then pg_temp.past_opening(m) + interval '15 hours' end as cancelled_at, case when ${IS_CANCELLED} then 'Snow' end as cancel_reason, 600 as processing_rate,
              1000 as max_open_windows, pg_temp.past_opening(m) as created_at from generate_series(0, ${matches - 1}) as m`,
    ],
    [
      'sectors',
      `select ${SECTOR_ID} as id, ${MATCH_ID} as match_id, 'Sector ' || s + 1 as name, 'seated' as kind, 2000 + 500 * s as price_cents,
              ${perSector} as capacity, s as position from ${everySector}`,
    ],
    [
      'seats',
      `select ${SEAT_ID} as id, ${MATCH_ID} as match_id, ${SECTOR_ID} as sector_id, (rank / 50 + 1)::text as row_label, rank % 50 + 1 as number,
              rank / 50 as row_index, rank % 50 as x, rank / 50 as y, rank, case when status = 'completed' then 'sold' else 'available' end as status,
              case when status = 'completed' then reservation_id end as reservation_id
       from ${everySector} cross join generate_series(0, ${perSector - 1}) as rank
         left join (select n, status, reservation_id from past_order) o
           on o.n = m * ${ordersOfMatch}::bigint + ${PLACE_IN_SALE} and ${PLACE_IN_SALE} < ${ordersOfMatch}
       order by m, s, rank`,
    ],
  ];
}

/** Quotas whose places went back to the public, with their ledger and invitations. */
export function quotaFillings(size: HistorySize): readonly Filling[] {
  const perSector = seatsOfSector(size);
  const placesOfQuota = `array(select ${SEAT_ID} from generate_series(${perSector - PLACES_OF_QUOTA}, ${perSector - 1}) as rank)`;
  const everyQuota = `generate_series(0, ${size.matches - 1}) as m, generate_series(0, ${QUOTAS - 1}) as s`;
  return [
    [
      'quotas',
      `select ${QUOTA_ID} as id, ${MATCH_ID} as match_id, 1 as depth, 'Club ' || s as name, 'club' as kind, array[md5('partner' || s)::uuid] as members,
              pg_temp.past_opening(m) + interval '12 hours' as return_at, 'public' as on_return, 'returned' as status,
              pg_temp.past_opening(m) + interval '12 hours' as returned_at from ${everyQuota}`,
    ],
    [
      'quota_moves',
      `select pg_temp.past_id('move' || kind, m * ${QUOTAS} + s, pg_temp.past_opening(m)) as id, ${MATCH_ID} as match_id, kind,
              pg_temp.past_opening(m) + interval '12 hours' as at, 'system' as actor, case when kind = 'return' then ${QUOTA_ID} end as from_quota,
              case when kind = 'creation' then ${QUOTA_ID} end as to_quota, ${PLACES_OF_QUOTA} as quantity, 'history' as reason, ${placesOfQuota} as seat_ids
       from unnest(array['creation', 'return']) with ordinality as kinds(kind, step), ${everyQuota} order by m, s, step`,
    ],
    [
      'invitations',
      `select pg_temp.past_id('invitation', (m * ${QUOTAS} + s) * 100 + p, pg_temp.past_opening(m)) as id, ${MATCH_ID} as match_id, ${QUOTA_ID} as quota_id,
              'guest.' || p || '@example.com' as email, 'hr' as locale, ${SECTOR_ID} as sector_id, (${placesOfQuota})[p:p] as seat_ids, 1 as quantity,
              'expired' as status, pg_temp.past_opening(m) + interval '12 hours' as expires_at, 'operator' as created_by,
              pg_temp.past_opening(m) as created_at, pg_temp.past_opening(m) + interval '12 hours' as ended_at
       from ${everyQuota}, generate_series(1, ${PLACES_OF_QUOTA}) as p`,
    ],
  ];
}

/*
 * Statements that add past matches with their sales. Everything is computed from the number of the row, so nothing is read back: match m
 * of m, order n of all orders, order i of its match, place `rank` of its sector. `past_order` is a temporary table with one row for each
 * order, from which the other tables are filled.
 */

/** How large a history is. `ordersOfMatch` is a multiple of 20: every sector has the same number of pairs of orders. */
export interface HistorySize {
  readonly matches: number;
  readonly ordersOfMatch: number;
  /** The sales lie within so many days. The last match was two days ago. */
  readonly days: number;
}

const SECTORS = 10;
/** Places of a sector that nobody bought; those of quotas are of them. */
const UNSOLD = 60;
const QUOTAS = 4;
const PLACES_OF_QUOTA = 50;
/** Messages to fans are remembered for 90 days, see libs/messaging/src/inbox/inbox-purge.ts. */
const REMEMBERED = `now() - interval '89 days'`;
const IS_CANCELLED = 'm % 50 = 5';
/** Idempotency keys are kept for 72 hours. So many are left of the last sales. */
const MAX_KEYS = 100_000;

/**
 * `past_id`: a UUID of version 7 with this time, and with digits that look random. `past_opening`: when the sale of a match began.
 * `past_fan`: the fan with this number; every fifth order is the first of its fan.
 */
const functions = ({ matches, ordersOfMatch, days }: HistorySize): string => {
  const fans = Math.max(2 * ordersOfMatch, Math.ceil((matches * ordersOfMatch) / 5));
  return `
    create function pg_temp.past_id(kind text, n bigint, at timestamptz) returns uuid language sql immutable as $$
      select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || overlay(left(md5(kind || n), 19) placing '8' from 4 for 1))::uuid $$;
    create function pg_temp.past_opening(m bigint) returns timestamptz language sql stable as $$
      select date_trunc('hour', now()) - interval '3 days' - (${matches} - 1 - m) * interval '${days} days' / ${matches} $$;
    create function pg_temp.past_fan(m bigint, i bigint) returns bigint language sql immutable as $$ select (m * 7919 + i) % ${fans} $$;
    create function pg_temp.past_name(n bigint) returns text language sql immutable as $$
      select (array['Ana','Ivan','Đurđica','Marko','Petra','Josip','Štefica','Luka','Grace','Tomás'])[1 + n % 10] || ' ' ||
             (array['Horvat','Kovačević','Babić','Marić','Jurić','Novak','Kovačić','Đorđević','Okafor','Šćepanović','Perić'])[1 + n % 11]
             || coalesce(' ' || chr(65 + (n / 110 % 26)::int), '') $$;
    create function pg_temp.past_email(fan bigint) returns text language sql immutable as $$
      select (array['ana','ivan','durdica','marko','petra','josip','stefica','luka','grace','tomas'])[1 + fan % 10] || '.' || fan ||
             (array['@example.com','@Example.hr','@mail.example.org'])[1 + fan % 3] $$;`;
};

/**
 * 90 % of the orders are completed, 5 % each expired and cancelled. One match of 50 was cancelled, so its orders are refunded: all refunds
 * lie together and far back. Every second match had a waiting room.
 */
const PAST_ORDERS = ({ matches, ordersOfMatch }: HistorySize): string => `
  create temp table past_order as
  select n, m, i, s, status, at, match_id, fan, md5('fan' || fan)::uuid as user_id, pg_temp.past_id('sector', m * ${SECTORS} + s, pg_temp.past_opening(m)) as sector_id,
         pg_temp.past_id('reservation', n, at) as reservation_id, pg_temp.past_id('order', n, at + interval '20 seconds') as id,
         1 + k % 2 as quantity, 2000 + 500 * s as price, case when m % 2 = 1 then 'st_' || md5('turn' || n) end as session_token,
         'pi_' || left(md5('intent' || n), 24) as intent_id,
         array(select pg_temp.past_id('seat', (m * ${SECTORS} + s) * 1000000 + 3 * (k / 2) + k % 2 + p, pg_temp.past_opening(m))
               from generate_series(0, k % 2) as p) as seat_ids
  from (select n, m, i, i % ${SECTORS} as s, i / ${SECTORS} as k, pg_temp.past_fan(m, i) as fan,
               pg_temp.past_id('match', m, pg_temp.past_opening(m)) as match_id,
               pg_temp.past_opening(m) + i * interval '1 hour' / ${ordersOfMatch} as at,
               case when part >= 95 then 'expired' when part >= 90 then 'cancelled' when ${IS_CANCELLED} then 'refunded' else 'completed' end as status
        from (select n, n / ${ordersOfMatch} as m, n % ${ordersOfMatch} as i, abs(hashint8(n)::bigint) % 100 as part
              from generate_series(0::bigint, ${matches * ordersOfMatch - 1}) as n) numbered) placed`;

const PAID = `status in ('completed', 'refunded')`;

/** The statements that fill the tables, by table, in an order that they can run in. */
const tables = (size: HistorySize): readonly (readonly [table: string, sql: string])[] => {
  const { matches, ordersOfMatch } = size;
  const perSector = (3 * ordersOfMatch) / (2 * SECTORS) + UNSOLD;
  const everySector = `generate_series(0, ${matches - 1}) as m cross join generate_series(0, ${SECTORS - 1}) as s`;
  // Two orders share three neighbouring places: the first has one of them, the second the others.
  const placeInSale = `(2 * (rank / 3) + least(rank % 3, 1)) * ${SECTORS} + s`;
  const matchId = `pg_temp.past_id('match', m, pg_temp.past_opening(m))`;
  const sectorId = `pg_temp.past_id('sector', m * ${SECTORS} + s, pg_temp.past_opening(m))`;
  const seatId = `pg_temp.past_id('seat', (m * ${SECTORS} + s) * 1000000 + rank, pg_temp.past_opening(m))`;
  const quotaId = `pg_temp.past_id('quota', m * ${QUOTAS} + s, pg_temp.past_opening(m))`;
  const placesOfQuota = `array(select ${seatId} from generate_series(${perSector - PLACES_OF_QUOTA}, ${perSector - 1}) as rank)`;
  const everyQuota = `generate_series(0, ${matches - 1}) as m, generate_series(0, ${QUOTAS - 1}) as s`;
  return [
    // No sale ends by itself: operators have closed only every second one.
    [
      'matches',
      `select ${matchId} as id, 'Hrvatska' as home, 'Guest ' || m as away, (array['Maksimir, Zagreb', 'Poljud, Split', 'Opus Arena, Osijek'])[1 + m % 3] as venue,
              pg_temp.past_opening(m) + interval '20 hours' as kickoff_at, 'EUR' as currency, 4 as max_tickets_per_fan, m % 2 = 1 as queue_required,
              pg_temp.past_opening(m) as opens_at, case when m / 2 % 2 = 0 or ${IS_CANCELLED} then 'closed' else 'open' end as sale_status,
              case when ${IS_CANCELLED} then pg_temp.past_opening(m) + interval '15 hours' end as cancelled_at, case when ${IS_CANCELLED} then 'Snow' end as cancel_reason, 600 as processing_rate,
              1000 as max_open_windows, pg_temp.past_opening(m) as created_at from generate_series(0, ${matches - 1}) as m`,
    ],
    [
      'sectors',
      `select ${sectorId} as id, ${matchId} as match_id, 'Sector ' || s + 1 as name, 'seated' as kind, 2000 + 500 * s as price_cents,
              ${perSector} as capacity, s as position from ${everySector}`,
    ],
    [
      'seats',
      `select ${seatId} as id, ${matchId} as match_id, ${sectorId} as sector_id, (rank / 50 + 1)::text as row_label, rank % 50 + 1 as number,
              rank / 50 as row_index, rank % 50 as x, rank / 50 as y, rank, case when status = 'completed' then 'sold' else 'available' end as status,
              case when status = 'completed' then reservation_id end as reservation_id
       from ${everySector} cross join generate_series(0, ${perSector - 1}) as rank
         left join (select n, status, reservation_id from past_order) o
           on o.n = m * ${ordersOfMatch}::bigint + ${placeInSale} and ${placeInSale} < ${ordersOfMatch}
       order by m, s, rank`,
    ],
    [
      'quotas',
      `select ${quotaId} as id, ${matchId} as match_id, 1 as depth, 'Club ' || s as name, 'club' as kind, array[md5('partner' || s)::uuid] as members,
              pg_temp.past_opening(m) + interval '12 hours' as return_at, 'public' as on_return, 'returned' as status,
              pg_temp.past_opening(m) + interval '12 hours' as returned_at from ${everyQuota}`,
    ],
    [
      'quota_moves',
      `select pg_temp.past_id('move' || kind, m * ${QUOTAS} + s, pg_temp.past_opening(m)) as id, ${matchId} as match_id, kind,
              pg_temp.past_opening(m) + interval '12 hours' as at, 'system' as actor, case when kind = 'return' then ${quotaId} end as from_quota,
              case when kind = 'creation' then ${quotaId} end as to_quota, ${PLACES_OF_QUOTA} as quantity, 'history' as reason, ${placesOfQuota} as seat_ids
       from unnest(array['creation', 'return']) with ordinality as kinds(kind, step), ${everyQuota} order by m, s, step`,
    ],
    [
      'invitations',
      `select pg_temp.past_id('invitation', (m * ${QUOTAS} + s) * 100 + p, pg_temp.past_opening(m)) as id, ${matchId} as match_id, ${quotaId} as quota_id,
              'guest.' || p || '@example.com' as email, 'hr' as locale, ${sectorId} as sector_id, (${placesOfQuota})[p:p] as seat_ids, 1 as quantity,
              'expired' as status, pg_temp.past_opening(m) + interval '12 hours' as expires_at, 'operator' as created_by,
              pg_temp.past_opening(m) as created_at, pg_temp.past_opening(m) + interval '12 hours' as ended_at
       from ${everyQuota}, generate_series(1, ${PLACES_OF_QUOTA}) as p`,
    ],
    [
      'fans',
      `select distinct on (fan) user_id, pg_temp.past_email(fan) as email, pg_temp.past_name(fan) as name, (array['hr', 'en'])[1 + fan % 2] as locale
       from past_order order by fan`,
    ],
    ['devices', `select user_id, 'phone' as device_id, 'token-' || user_id as fcm_token from fans where name is not null`],
    [
      'reservations',
      `select reservation_id as id, match_id, sector_id, user_id, session_token,
              case status when 'expired' then 'expired' when 'cancelled' then 'released' else 'completed' end as status, seat_ids, quantity,
              'Sector ' || s + 1 as sector, price as price_cents, true as together, quantity * price as total_cents, 'EUR' as currency,
              at + interval '10 minutes' as expires_at, at as created_at, at + interval '1 minute' as ended_at, true as swept, status = 'cancelled' as released
       from past_order`,
    ],
    // Every fourth fan with a hold leaves it unpaid.
    [
      'reservations',
      `select pg_temp.past_id('abandoned', n, at) as id, match_id, sector_id, md5('fan' || pg_temp.past_fan(m, ${ordersOfMatch} + i / 4))::uuid as user_id,
              'expired' as status, seat_ids, quantity, 'Sector ' || s + 1 as sector, price as price_cents, true as together,
              quantity * price as total_cents, 'EUR' as currency, at + interval '10 minutes' as expires_at, at as created_at,
              at + interval '10 minutes' as ended_at, true as swept
       from past_order where i % 4 = 0`,
    ],
    [
      'fan_seats',
      `select match_id, user_id, 2 as revision, array[reservation_id] as reservation_ids, case when status = 'refunded' then -quantity else 0 end as received
       from past_order`,
    ],
    [
      'purchase_windows',
      `select session_token, match_id, user_id, at + interval '20 minutes' as expires_at, at + interval '1 minute' as ended_at,
              case when ${PAID} then 'completed' else 'left' end as end_reason, at - interval '1 minute' as created_at, n as place_score
       from past_order where session_token is not null`,
    ],
    [
      'orders',
      `select id, 'ORD-' || extract(year from at) || '-' || lpad((n + 1)::text, greatest(6, length((n + 1)::text)), '0') as number, match_id, reservation_id, user_id, session_token,
              session_token is not null and ${PAID} as claims_window, status, quantity * price as total_cents, 'EUR' as currency,
              pg_temp.past_email(fan) as email,
              (select jsonb_agg(jsonb_build_object('seatId', seat_id, 'name', pg_temp.past_name(fan + place))) from unnest(seat_ids) with ordinality as p(seat_id, place)) as holders,
              'stripe' as provider, intent_id, intent_id || '_secret_' || left(md5('secret' || n), 25) as client_secret, at + interval '20 seconds' as created_at,
              case when ${PAID} then at + interval '1 minute' end as completed_at, case when status = 'refunded' then quantity else 0 end as refunded_tickets,
              case when status = 'refunded' then quantity * price else 0 end as refunded_cents, md5('checkout' || n) as placed_with_key,
              pg_temp.past_id('request', n, at)::text as request_id
       from past_order`,
    ],
    ['order_intents', 'select intent_id, id as order_id from past_order'],
    [
      'order_timeline',
      `select id as order_id, at + step * interval '20 seconds' as at, event
       from past_order, unnest(case status when 'completed' then array['created', 'payment_succeeded', 'completed']
                                when 'refunded' then array['created', 'payment_succeeded', 'completed', 'refunded']
                                else array['created', status] end) with ordinality as noted(event, step) order by n, step`,
    ],
    [
      'payment_inbox',
      `select 'evt_' || md5('event' || n) as event_id, 'payment_intent.succeeded' as type, intent_id, 'succeeded' as outcome,
              at + interval '1 minute' as received_at, quantity * price as amount_cents, 'EUR' as currency from past_order where ${PAID}`,
    ],
    [
      'tickets',
      `select pg_temp.past_id('ticket', n * 2 + place, at + interval '1 minute') as id, id as order_id, match_id, user_id, seat_id, 'Sector ' || s + 1 as sector,
              '1' as row_label, place as number, pg_temp.past_name(fan + place) as holder_name,
              case when status = 'refunded' then 'refunded' when n % 5 = 0 then 'valid' else 'used' end as status, at + interval '1 minute' as issued_at
       from past_order, unnest(seat_ids) with ordinality as p(seat_id, place) where ${PAID} order by n, place`,
    ],
    [
      'inbox',
      `select 'email' as consumer, pg_temp.past_id(mail, n, at)::text as message_id, at + interval '2 minutes' as claimed_at,
              at + interval '2 minutes' as finished_at, 1 as attempts
       from past_order, unnest(array['confirmation', 'tickets']) as mail where status = 'completed' and at > ${REMEMBERED}`,
    ],
    [
      'push_progress',
      `select pg_temp.past_id('push', n, at)::text as message_id, 1 as devices, at + interval '2 minutes' as claimed_at, at + interval '2 minutes' as finished_at,
              '{0}'::smallint[] as done from past_order where status = 'completed' and at > ${REMEMBERED}`,
    ],
    [
      'broadcasts',
      `select pg_temp.past_id('broadcast', m, pg_temp.past_opening(m)) as id, 'match_reminder' as template, ${ordersOfMatch / 2} as devices, pg_temp.past_opening(m) as created_at
       from generate_series(0, ${matches - 1}) as m where pg_temp.past_opening(m) > ${REMEMBERED}`,
    ],
    [
      'broadcast_devices',
      `select id as broadcast_id, ordinal, 'token-' || md5('fan' || ordinal)::uuid as fcm_token from broadcasts, generate_series(0, devices - 1) as ordinal`,
    ],
    [
      'idempotency_keys',
      `select md5('key' || n) as key, user_id, md5('fingerprint' || n) as fingerprint, 201 as status, reservation_id as made,
              now() - interval '71 hours' + (n - ${Math.max(0, matches * ordersOfMatch - MAX_KEYS)}) * interval '2 seconds' as created_at
       from past_order where n >= ${Math.max(0, matches * ordersOfMatch - MAX_KEYS)} order by n`,
    ],
    [
      'loaded_events',
      `select 'gates' as source, lpad(n::text, 12, '0') as event_id, jsonb_build_object('event_id', n, 'ticket', id, 'gate', s) as payload, at as loaded_at
       from past_order where n % 5 = 0`,
    ],
    [
      'jobs',
      `select pg_temp.past_id('job', n, now()) as id, 'remind_fans' as class, '{"class":"remind_fans"}'::jsonb as message, now() - n * interval '1 second' as created_at,
              case when n % 10 > 0 then now() - n * interval '1 second' end as done_at, case when n % 10 = 0 then now() - interval '8 days' end as failed_at
       from generate_series(1, 2000) as n`,
    ],
  ];
};

/** One step of loading a history. A step with a table adds the rows of `sql` to it. */
export interface HistoryStep {
  readonly sql: string;
  readonly table?: string;
}

/** All steps in the order in which they run. */
export function historySteps(size: HistorySize): readonly HistoryStep[] {
  return [
    { sql: functions(size) },
    { sql: PAST_ORDERS(size) },
    { sql: 'analyze past_order' },
    ...tables(size).map(([table, sql]) => ({ table, sql })),
    { sql: `select setval('order_numbers', ${size.matches * size.ordersOfMatch + 1})` },
    { sql: 'drop table past_order' },
  ];
}

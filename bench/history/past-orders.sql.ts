import type { Filling, HistorySize } from './history-size.ts';

/** SQL condition: the past order was paid. */
const PAID = `status in ('completed', 'refunded')`;

/** The fans, with a device each. */
export const fanFillings: readonly Filling[] = [
  [
    'fans',
    `select distinct on (fan) user_id, pg_temp.past_email(fan) as email, pg_temp.past_name(fan) as name, (array['hr', 'en'])[1 + fan % 2] as locale
       from past_order order by fan`,
  ],
  ['devices', `select user_id, 'phone' as device_id, 'token-' || user_id as fcm_token from fans where name is not null`],
];

/** What fans held. */
export const holdFillings = ({ ordersOfMatch }: HistorySize): readonly Filling[] => [
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
];

/** What fans bought. */
export const orderFillings: readonly Filling[] = [
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
];

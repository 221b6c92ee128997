import type { Filling, HistorySize } from './history-size.ts';

/** Messages to fans are remembered for 90 days, see apps/monolith/src/cli/retention/retention-rules.ts. */
const REMEMBERED = `now() - interval '89 days'`;
/** Idempotency keys are kept for 72 hours. So many are left of the last sales. */
const MAX_KEYS = 100_000;

/** What the retention leaves of messages to fans. */
export const messageFillings = ({ matches, ordersOfMatch }: HistorySize): readonly Filling[] => [
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
];

/** What the retention leaves of keys and background jobs, and the events of other systems, which are kept. */
export const leftoverFillings = ({ matches, ordersOfMatch }: HistorySize): readonly Filling[] => [
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

import { namedSql } from '#platform/postgres/named-sql';

/**
 * Reads the FCM tokens of a range of a broadcast's devices, as one row with a JSON array. The driver would need more time to read
 * 500 rows than all other work on a range takes.
 */
export const BROADCAST_TOKENS = namedSql<{ readonly broadcastId: string; readonly from: number; readonly to: number }>(
  'broadcast-tokens',
  `
  select json_agg(fcm_token order by ordinal) as tokens
  from broadcast_devices where broadcast_id = :broadcastId and ordinal >= :from and ordinal < :to`,
);

/** Counts how many devices of the newest broadcasts of the last week are done, have a dead token, or refused the push. */
export const BROADCAST_PROGRESS = namedSql<{ readonly limit: number }>(
  'broadcast-progress',
  `
  select broadcasts.id, broadcasts.template, broadcasts.devices,
         coalesce(sum(cardinality(done)), 0)::int as done,
         coalesce(sum(dead), 0)::int as dead, coalesce(sum(refused), 0)::int as refused
  from (select * from broadcasts where created_at > now() - interval '7 days' order by created_at desc limit :limit) broadcasts
  left join push_progress on push_progress.broadcast_id = broadcasts.id
  group by broadcasts.id, broadcasts.template, broadcasts.devices`,
);

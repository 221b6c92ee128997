import { queueKeys } from '#contracts/queue-keys';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { DataSource } from 'typeorm';

/** How long after kick-off operators can look up what happened in a line. */
export const STREAM_RETENTION = '30 days';

const OLD_MATCHES = `
  select id from matches where queue_required and kickoff_at < now() - interval '${STREAM_RETENTION}'
  order by kickoff_at desc limit 1000`;

/** Deletes what happened in the lines of past matches: the streams in Redis have user ids and session tokens, and never expire. */
export async function deleteOldStreams(database: DataSource, redis: Pick<RedisConnection, 'unlink'>): Promise<number> {
  let deleted = 0;
  for (const { id } of await database.query<{ id: string }[]>(OLD_MATCHES))
    deleted += await redis.unlink(queueKeys.events(id), queueKeys.audit(id));
  return deleted;
}

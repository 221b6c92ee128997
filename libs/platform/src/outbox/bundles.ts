import { prepared, type DriverClient } from '../postgres/database.ts';
import type { RelayedMessage } from './destination.ts';
import { OF_ANOTHER_TIME } from './stale-messages.ts';

const DUE = 'destination = $1 and series is not null and parked_at is null and available_at <= now()';

/**
 * Takes the oldest rows of series away and makes a bundle of each series, without a row's body ever leaving the server. The
 * copies that stay in `queued_jobs` are the bundles. One BullMQ job a row drains 17,000 rows a second, this 160,000
 * (`npm run bench:notifications`). By `ctid`, which nobody can move while we hold the rows locked: half the time of the same
 * by id. Rows older than a week, and fewer than $3, go the usual way. READ COMMITTED on purpose, as the claim beside it.
 */
const BUNDLE = `
  with gone as (
    delete from outbox where ctid = any(array(
      select ctid from outbox
      where ${DUE} and aggregate_id is null and not (${OF_ANOTHER_TIME})
        and (select count(*) from (select from outbox where ${DUE} limit $3) enough) = $3
      order by seq limit $2 for update skip locked))
    returning id, series, body
  ), bundles as (
    select uuidv7() as id, count(*)::int as jobs, any_value(body) - 'range' as same,
           '[' || string_agg('["' || id || '",' || (body ->> 'range') || ']', ',') || ']' as ranges
    from gone group by series
  )
  insert into queued_jobs (message_id, queue, jobs, body)
  select id, $1, jobs, same || jsonb_build_object('job_id', id, 'ranges', ranges) from bundles
  returning message_id as id, 'bundle' as event, body, jobs`;

export type Bundle = RelayedMessage & { readonly jobs: number };

/** At most `limit` rows, which leave with the caller's commit; none when fewer than `from` are due. */
export async function takeBundles(
  client: DriverClient,
  destination: string,
  { limit, from }: { readonly limit: number; readonly from: number },
): Promise<readonly Bundle[]> {
  const { rows } = await client.query<{ rows: Bundle[] }>(prepared(BUNDLE, [destination, limit, from]));
  return rows;
}

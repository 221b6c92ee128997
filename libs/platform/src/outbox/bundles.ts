import { prepared, type DriverClient } from '../postgres/database.ts';
import type { RelayedMessage } from './destination.ts';
import { IS_TOO_OLD } from './stale-messages.ts';

const DUE = 'destination = $1 and series is not null and parked_at is null and available_at <= now()';

/**
 * Deletes the oldest rows that belong to a series and combines the rows of each series into one bundle, inside the database.
 * The copies in `queued_jobs` are the bundles, not the rows. With one BullMQ job per row the relay delivers 17,000 rows a
 * second, with bundles 160,000 (`npm run bench:notifications`). It selects by `ctid`, which cannot change while the rows are
 * locked; this takes half the time of a selection by id. Rows older than a week are delivered one by one, and so are all rows
 * if fewer than $3 are due. READ COMMITTED on purpose, like the claim in outbox-relay.ts.
 */
const BUNDLE = `
  with taken as (
    delete from outbox where ctid = any(array(
      select ctid from outbox
      where ${DUE} and aggregate_id is null and not (${IS_TOO_OLD})
        and (select count(*) from (select from outbox where ${DUE} limit $3) due) = $3
      order by seq limit $2 for update skip locked))
    returning id, series, body
  ), bundles as (
    select uuidv7() as id, count(*)::int as jobs, any_value(body) - 'range' as same,
           '[' || string_agg('["' || id || '",' || (body ->> 'range') || ']', ',') || ']' as ranges
    from taken group by series
  )
  insert into queued_jobs (message_id, queue, jobs, body)
  select id, $1, jobs, same || jsonb_build_object('job_id', id, 'ranges', ranges) from bundles
  returning message_id as id, 'bundle' as event, body, jobs`;

export type Bundle = RelayedMessage & { readonly jobs: number };

/**
 * Takes at most `limit` rows out of the outbox and returns them as bundles. The rows are gone when the caller commits. Returns
 * nothing when fewer than `minRows` are due.
 */
export async function takeBundles(
  client: DriverClient,
  destination: string,
  { limit, minRows }: { readonly limit: number; readonly minRows: number },
): Promise<readonly Bundle[]> {
  const { rows } = await client.query<{ rows: Bundle[] }>(prepared(BUNDLE, [destination, limit, minRows]));
  return rows;
}

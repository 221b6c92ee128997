import { namedSql } from '#platform/postgres/named-sql';
import type { RelayedMessage } from './destination.ts';
import { IS_TOO_OLD } from './stale-messages.sql.ts';

interface BundleParameters {
  readonly destination: string;
  /** Maximum number of outbox rows that are taken. */
  readonly limit: number;
  /** If fewer rows than this are due, no row is taken. */
  readonly minRows: number;
}

/** A bundle to deliver: outbox rows of one broadcast as one message. `jobs` is the number of these rows. */
export type TakenBundle = RelayedMessage & { readonly jobs: number };

/** SQL condition: the row belongs to a series (the rows of one broadcast), is not parked, and its delivery is due. */
const DUE = 'destination = :destination and series is not null and parked_at is null and available_at <= now()';

/**
 * Deletes the oldest outbox rows that belong to a series (the rows of one broadcast), combines the rows of each series into one
 * bundle, and stores a copy of each bundle in `queued_jobs`. With one BullMQ job per row the relay delivers 17,000 rows a second,
 * with bundles 160,000 (`npm run bench:notifications`).
 *
 * Guarantee: each taken row is in one bundle, and it is gone from the outbox when the caller commits. Not taken are rows older
 * than a week, rows of an aggregate, and all rows if fewer than `minRows` are due; they are delivered one by one. READ COMMITTED
 * on purpose, like the statements in outbox-relay.sql.ts.
 */
export const TAKE_BUNDLES = namedSql<BundleParameters>(
  'take-bundles',
  `
  with taken as (
    -- By ctid, which cannot change while the rows are locked. This takes half the time of a selection by id.
    delete from outbox where ctid = any(array(
      select ctid from outbox
      where ${DUE} and aggregate_id is null and not (${IS_TOO_OLD})
        and (select count(*) from (select from outbox where ${DUE} limit :minRows) due) = :minRows
      order by seq limit :limit for update skip locked))
    returning id, series, body
  ), bundles as (
    -- The rows of a series differ only in their ids and ranges. All other fields of the body are in the bundle once.
    select uuidv7() as id, count(*)::int as jobs, any_value(body) - 'range' as same,
           '[' || string_agg('["' || id || '",' || (body ->> 'range') || ']', ',') || ']' as ranges
    from taken group by series
  )
  insert into queued_jobs (message_id, queue, jobs, body)
  select id, :destination, jobs, same || jsonb_build_object('job_id', id, 'ranges', ranges) from bundles
  returning message_id as id, 'bundle' as event, body, jobs`,
);

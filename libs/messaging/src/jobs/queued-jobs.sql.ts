import { namedSql } from '#platform/postgres/named-sql';

/*
 * The table `queued_jobs`: copies of the notification jobs (mails, pushes) that wait in Redis, which may lose them. A row is the
 * copy of one job, or of a bundle: many jobs of one broadcast that travel as one job, with their number in `jobs`.
 */

interface UnpackParameters {
  readonly bundleId: string;
  readonly queue: string;
  readonly bundle: string;
  /** The jobs of the bundle, a JSON array. */
  readonly jobs: string;
}

/**
 * Inserts the copies of a bundle's jobs, at most once: the bundle's own row records whether this has happened. The insert waits
 * for the outbox relay's transaction that adds the bundle's own row and may not have committed yet. If the relay rolled back, its
 * messages are still in the outbox and will be delivered in another bundle.
 */
export const UNPACK_BUNDLE = namedSql<UnpackParameters>(
  'unpack-bundle',
  `
  with bundle as (
    -- The bundle's own row, added by the relay: jobs is the number of jobs in the bundle, or 1 after it was unpacked. Without
    -- this row there is nothing to unpack.
    insert into queued_jobs (message_id, queue, body) values (:bundleId, :queue, :bundle)
    on conflict (message_id) do update set jobs = 1 where queued_jobs.jobs > 1
    returning old.message_id is not null as is_first
  )
  insert into queued_jobs (message_id, queue, body)
  select (job ->> 'job_id')::uuid, :queue, job from bundle, jsonb_array_elements(:jobs::jsonb) job where is_first
  on conflict (message_id) do nothing`,
);

/** How many jobs are in bundles, minus one for each bundle. Redis counts a bundle as one job, so its count lacks this number. */
export const COUNT_JOBS_IN_BUNDLES = namedSql<{ readonly queues: readonly string[] }>(
  'count-jobs-in-bundles',
  'select coalesce(sum(jobs - 1), 0)::int as uncounted from queued_jobs where jobs > 1 and queue = any(:queues)',
);

/** A page of the copies of jobs, in the order of their ids. */
export const PAGE_OF_QUEUED_JOBS = namedSql<{ readonly after: string; readonly limit: number }>(
  'page-of-queued-jobs',
  'select message_id, queue, body from queued_jobs where message_id > :after order by message_id limit :limit',
);

/** Deletes the copies of finished jobs. */
export const DELETE_QUEUED_JOBS = namedSql<{ readonly messageIds: readonly string[] }>(
  'delete-queued-jobs',
  'delete from queued_jobs where message_id = any(:messageIds::uuid[])',
);

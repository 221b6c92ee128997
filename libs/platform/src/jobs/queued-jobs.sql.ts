import { namedSql } from '../postgres/named-sql.ts';

/*
 * The table `queued_jobs`: copies of the notification jobs in Redis. A row is a job, or a bundle with `jobs` > 1.
 */

interface UnpackParameters {
  readonly bundleId: string;
  readonly queue: string;
  readonly bundle: string;
  /** The jobs of the bundle, a JSON array. */
  readonly jobs: string;
}

/**
 * Inserts the copies of a bundle's jobs, at most once: the bundle's own row records whether it was done. The insert of that row
 * waits for the relay's transaction, which may still commit. If the relay rolled back, its rows are still in the outbox and will
 * be delivered in another bundle.
 */
export const UNPACK_BUNDLE = namedSql<UnpackParameters>(
  'unpack-bundle',
  `
  with bundle as (
    -- The relay's row says how many jobs the bundle has; 1 says that it is unpacked. Without a row there is nothing to unpack.
    insert into queued_jobs (message_id, queue, body) values (:bundleId, :queue, :bundle)
    on conflict (message_id) do update set jobs = 1 where queued_jobs.jobs > 1
    returning old.message_id is not null as is_first
  )
  insert into queued_jobs (message_id, queue, body)
  select (job ->> 'job_id')::uuid, :queue, job from bundle, jsonb_array_elements(:jobs::jsonb) job where is_first
  on conflict (message_id) do nothing`,
);

/** Jobs in bundles that Redis does not count: it counts a bundle as one job. */
export const COUNT_JOBS_IN_BUNDLES = namedSql<{ readonly queues: readonly string[] }>(
  'count-jobs-in-bundles',
  'select coalesce(sum(jobs - 1), 0)::int as uncounted from queued_jobs where jobs > 1 and queue = any(:queues)',
);

/** A page of copies in the order of their ids. */
export const PAGE_OF_QUEUED_JOBS = namedSql<{ readonly after: string; readonly limit: number }>(
  'page-of-queued-jobs',
  'select message_id, queue, body from queued_jobs where message_id > :after order by message_id limit :limit',
);

/** Deletes the copies of finished jobs. */
export const DELETE_QUEUED_JOBS = namedSql<{ readonly messageIds: readonly string[] }>(
  'delete-queued-jobs',
  'delete from queued_jobs where message_id = any(:messageIds::uuid[])',
);

import { namedSql } from '#platform/postgres/named-sql';

/*
 * The table `jobs`. A job is open until it is done (`done_at`) or failed for good (`failed_at`). Guarantee: only one
 * statement can end an open job. If two workers finish the same job, the statement of one returns no row, and this worker must
 * roll back the job's effect.
 */

const COLUMNS = `id, class, message, created_at as "createdAt", attempts, transport, done_at as "doneAt", failed_at as "failedAt",
  request_id as "requestId", traceparent`;

/** Adds jobs. `jobs` is a JSON array with the id, class and message of each job. All have the same origin. */
export const PUT_JOBS = namedSql<{
  readonly jobs: string;
  readonly requestId: string | null;
  readonly traceparent: string | null;
}>(
  'put-jobs',
  `
  insert into jobs (id, class, message, request_id, traceparent)
  select id, class, message, :requestId::text, :traceparent::text from jsonb_to_recordset(:jobs::jsonb) as j(id uuid, class text, message jsonb)`,
);

/** Finds a job by its id. */
export const FIND_JOB = namedSql<{ readonly id: string }>('find-job', `select ${COLUMNS} from jobs where id = :id`);

/** Marks an open job as done. Returns no row if the job is not open. */
export const FINISH_JOB = namedSql<{ readonly id: string }>(
  'finish-job',
  `update jobs set done_at = clock_timestamp() where id = :id and done_at is null and failed_at is null returning 1`,
);

/** Stores failed attempts (a JSON array) with a job, unless the job is done or has `maxAttempts` stored attempts. */
export const NOTE_ATTEMPT = namedSql<{ readonly id: string; readonly attempts: string; readonly maxAttempts: number }>(
  'note-job-attempt',
  `
  update jobs set attempts = attempts || :attempts::jsonb
  where id = :id and done_at is null and jsonb_array_length(attempts) < :maxAttempts`,
);

/** Marks an open job as failed for good. Returns no row if the job is not open. */
export const SET_JOB_ASIDE = namedSql<{ readonly id: string; readonly transport: string; readonly attempts: string }>(
  'set-job-aside',
  `
  update jobs set failed_at = clock_timestamp(), transport = :transport, attempts = attempts || :attempts::jsonb
  where id = :id and done_at is null and failed_at is null returning 1`,
);

/** Makes failed jobs open again and returns them. Ignores jobs that are not failed any more. */
export const REOPEN_JOBS = namedSql<{ readonly ids: readonly string[] }>(
  'reopen-jobs',
  'update jobs set failed_at = null where id = any(:ids) and failed_at is not null returning id, class',
);

interface OpenJobsParameters {
  readonly olderThanSeconds: number;
  readonly limit: number;
  readonly after: string | null;
  /** The outbox destination of jobs. */
  readonly destination: string;
}

/**
 * Open jobs older than `olderThanSeconds`, oldest first. Leaves out jobs that are still in the outbox: BullMQ may still have such
 * a job as failed, from before an operator's retry.
 */
export const OPEN_JOBS = namedSql<OpenJobsParameters>(
  'open-jobs',
  `
  select ${COLUMNS} from jobs where done_at is null and failed_at is null and (:after::uuid is null or id > :after)
    and created_at < now() - make_interval(secs => :olderThanSeconds)
    and not exists (select from outbox o where o.destination = :destination and o.parked_at is null
                      and o.body ->> 'job_id' = jobs.id::text)
  order by id limit :limit`,
);

interface JobFilter {
  readonly state: 'open' | 'done' | 'failed' | 'any';
  readonly text: string | null;
  readonly before: string | null;
  readonly limit: number;
}

/** Lists jobs, newest first. `text` is searched in the whole message of a job, or is a job's id. */
export const LIST_JOBS = namedSql<JobFilter>(
  'list-jobs',
  `
  select ${COLUMNS} from jobs
  where case :state when 'open' then done_at is null and failed_at is null when 'failed' then failed_at is not null
                    when 'done' then done_at is not null else true end
    and (:text::text is null or id::text = lower(:text) or strpos(lower(message::text), lower(:text)) > 0)
    and (:before::uuid is null or id < :before) order by id desc limit :limit`,
);

/** Counts jobs by state, and reads the age of the oldest open job. */
export const COUNT_JOBS = namedSql<object>(
  'count-jobs',
  `
  select count(*) filter (where done_at is null and failed_at is null)::int as open,
         count(*) filter (where done_at is not null)::int as done, count(*) filter (where failed_at is not null)::int as failed,
         coalesce(extract(epoch from now() - min(created_at) filter (where done_at is null and failed_at is null)), 0)::int
           as "oldestSeconds"
  from jobs`,
);

/** Deletes jobs that were done or failed long ago, at most 1,000. It skips rows that another transaction has locked. */
export const PURGE_JOBS = namedSql<{ readonly keepDone: string; readonly keepFailed: string }>(
  'purge-jobs',
  `
  delete from jobs where id in (
    select id from jobs where done_at < now() - :keepDone::interval or failed_at < now() - :keepFailed::interval
    limit 1000 for update skip locked)`,
);

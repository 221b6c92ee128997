import { fromBase64Url, toBase64Url } from '#domain/shared/base64url';
import { z } from 'zod';
import { pageOf, pageQuery } from './paging.ts';
import { searchText } from './text-fields.ts';

/** The states of a job. A `delayed` job waits for a time, a `failed` one has no attempts left. */
export const jobStates = ['waiting', 'delayed', 'active', 'completed', 'failed'] as const;
export type JobState = (typeof jobStates)[number];
/** `outbox` is not a queue of BullMQ: it lists the outbox messages that could not be delivered and were parked. */
export const queueNames = ['email', 'push', 'push-priority', 'jobs', 'outbox'] as const;
export type QueueName = (typeof queueNames)[number];

/**
 * A place in the list of jobs. The list is sorted by id, because the ids that we make begin with their time. The queue decides
 * between equal ids: jobs that someone added to two queues by hand.
 */
export interface JobPosition {
  readonly id: string;
  readonly queue: QueueName;
}

/** The cursor of a page that begins after this job. A cursor contains the id as it is: a job added by hand may have any id. */
export const jobCursor = ({ id, queue }: JobPosition): string => toBase64Url(new TextEncoder().encode(`${queue} ${id}`));

/** The position in a cursor. Undefined for a text that is not a cursor of ours. */
export function positionInCursor(cursor: string): JobPosition | undefined {
  const bytes = fromBase64Url(cursor);
  if (!bytes) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const queue = queueNames.find((name) => text.startsWith(`${name} `));
    const id = queue && text.slice(queue.length + 1);
    return queue && id && !id.includes('\0') ? { id, queue } : undefined;
  } catch {
    return undefined;
  }
}

/** The filters of the list of jobs. An omitted filter does not restrict the list. */
const jobFilters = {
  queue: z
    .enum(queueNames)
    .optional()
    .meta({ description: 'Only jobs of this queue. `outbox`: messages that could not be delivered and were parked' }),
  template: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'is not the name of a template')
    .optional()
    .meta({ description: 'Template of a mail or push, class of a background job, event of a parked message' }),
  q: searchText(100).meta({
    description: 'Id of the job, number or id of an order, id of a fan or match, e-mail address, or part of a template or error',
  }),
};

/** The query parameters of `GET /ops/jobs`. */
export const jobQuery = z.object({
  limit: pageQuery.shape.limit,
  cursor: z
    .string()
    .max(2000)
    .refine((cursor) => positionInCursor(cursor) !== undefined, 'is not a cursor of ours')
    .optional()
    .meta({ description: 'next_cursor of the previous page' }),
  state: z.enum(jobStates).optional().meta({ description: 'Only jobs in this state. `failed` is the dead letter' }),
  ...jobFilters,
});

/** The body of `POST /ops/jobs/retry`: which failed jobs. Without filters all of them. */
export const retryJobsRequest = z
  .strictObject({ ...jobFilters, dry_run: z.boolean().default(false).meta({ description: 'Only count the jobs' }) })
  .meta({ id: 'RetryJobsRequest' });

export const retriedJobsAnswer = z
  .object({ count: z.int().meta({ description: 'Jobs that were retried, or would be with `dry_run`' }) })
  .meta({ id: 'RetriedJobs' });

/** The id of a job. It is a UUID, except for jobs that someone added to a queue by hand. */
export const jobId = z
  .string()
  .regex(/^[\w-]{1,100}$/, 'is not the id of a job')
  .meta({ description: 'Id of the job, or of the parked message' });

export const jobAnswer = z
  .object({
    id: z.string().meta({ description: 'Id of the job' }),
    queue: z.enum(queueNames).meta({ description: 'Queue of the job. `outbox`: a parked message, which is not a job' }),
    template: z
      .string()
      .meta({ description: 'Template of a mail or push, class of a background job, event of a parked message' }),
    state: z
      .enum(jobStates)
      .meta({ description: '`delayed`: waits for the time of its next attempt. `failed`: no attempt is left' }),
    attempts: z
      .array(
        z.object({
          at: z.iso.datetime().nullable().meta({ description: 'When the attempt failed. Null: not recorded' }),
          error: z.string().meta({ description: 'Why the attempt failed. Addresses and tokens are masked' }),
        }),
      )
      .meta({ description: 'The failed attempts, newest first' }),
    created_at: z.iso.datetime().meta({ description: 'When the job was created' }),
    transport: z.enum(['redis', 'postgres']).meta({ description: 'Where the job waits: in Redis or in PostgreSQL' }),
    payload: z.unknown().meta({ description: 'The data of the job. Addresses, names, tokens and codes are masked' }),
    interventions: z
      .array(
        z.object({
          action: z.enum(['retry', 'drop']).meta({ description: 'What the operator did' }),
          by: z.string().meta({ description: 'Who did it' }),
          at: z.iso.datetime().meta({ description: 'When the operator did it' }),
        }),
      )
      .meta({ description: 'What operators did with the job, newest first' }),
  })
  .meta({ id: 'Job' });

export const jobListAnswer = pageOf(jobAnswer).meta({
  id: 'JobList',
  description: 'A page may have fewer items than `limit`, even none, although `next_cursor` says that the search goes on.',
});

/** How many jobs each queue has in each state. */
export const jobCountsAnswer = z
  .object({
    items: z
      .array(
        z.object({
          queue: z.enum(queueNames).meta({ description: 'Name of the queue' }),
          waiting: z.int().meta({ description: 'Jobs that wait for a worker' }),
          delayed: z.int().meta({ description: 'Jobs that run at a later time' }),
          active: z.int().meta({ description: 'Jobs that a worker has begun' }),
          completed: z.int().meta({ description: 'Jobs that are done and still kept' }),
          failed: z.int().meta({ description: 'Dead letter: jobs that an operator may retry' }),
          oldest_waiting_seconds: z.int().meta({ description: 'Age of the oldest job that waits, in seconds' }),
        }),
      )
      .meta({ description: 'One item for each queue' }),
  })
  .meta({ id: 'JobCounts' });

/** A job as the API shows it. */
export type Job = z.output<typeof jobAnswer>;
export type QueueCounts = z.output<typeof jobCountsAnswer>['items'][number];

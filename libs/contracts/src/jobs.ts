import { z } from 'zod';
import { pageOf, pageQuery } from './paging.ts';
import { searchText } from './text-fields.ts';

/** The states of a job. A `delayed` job waits for a time, a `failed` one has no attempts left. */
export const jobStates = ['waiting', 'delayed', 'active', 'completed', 'failed'] as const;
export type JobState = (typeof jobStates)[number];
/** `outbox` is not a queue of BullMQ: it lists the outbox messages that could not be delivered and were parked. */
export const queueNames = ['email', 'push', 'push-priority', 'jobs', 'outbox'] as const;
export type QueueName = (typeof queueNames)[number];

/** The query parameters of `GET /ops/jobs`. */
export const jobQuery = pageQuery.extend({
  state: z.enum(jobStates).optional(),
  queue: z.enum(queueNames).optional().meta({ description: '`outbox`: parked messages' }),
  template: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'is not the name of a template')
    .optional()
    .meta({ description: 'Template of a mail or push, class of a background job, event of a parked message' }),
  q: searchText(100).meta({ description: 'Number or id of an order, id of a fan, of a match, or of the job' }),
});

/** The id of a job. It is a UUID, except for jobs that someone added to a queue by hand. */
export const jobId = z.string().regex(/^[\w-]{1,100}$/, 'is not the id of a job');

export const jobAnswer = z
  .object({
    id: z.string(),
    queue: z.enum(queueNames),
    template: z.string(),
    state: z.enum(jobStates),
    attempts: z
      .array(z.object({ at: z.iso.datetime().nullable(), error: z.string() }))
      .meta({ description: 'The failed attempts, newest first' }),
    created_at: z.iso.datetime(),
    transport: z.enum(['redis', 'postgres']),
    payload: z.unknown().meta({ description: 'Addresses, names, tokens and codes are masked' }),
    interventions: z.array(z.object({ action: z.enum(['retry', 'drop']), by: z.string(), at: z.iso.datetime() })),
  })
  .meta({ id: 'Job' });

export const jobListAnswer = pageOf(jobAnswer).meta({ id: 'JobList' });

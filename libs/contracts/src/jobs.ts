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
  state: z.enum(jobStates).optional().meta({ description: 'Only jobs in this state. `failed` is the dead letter' }),
  queue: z
    .enum(queueNames)
    .optional()
    .meta({ description: 'Only jobs of this queue. `outbox`: messages that could not be delivered and were parked' }),
  template: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'is not the name of a template')
    .optional()
    .meta({ description: 'Template of a mail or push, class of a background job, event of a parked message' }),
  q: searchText(100).meta({ description: 'Number or id of an order, id of a fan, of a match, or of the job' }),
});

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

export const jobListAnswer = pageOf(jobAnswer).meta({ id: 'JobList' });

import { masked, maskedText } from '#domain/notification/masked';
import { pageQuery } from '#platform/http/paging';
import { z } from 'zod';
import { jobStates, queueNames, type JobView } from './jobs.api.ts';

/** The query parameters of `GET /ops/jobs`. */
export const jobQuery = pageQuery.extend({
  state: z.enum(jobStates).optional(),
  queue: z.enum(queueNames).optional().meta({ description: '`outbox`: parked messages' }),
  template: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'is not the name of a template')
    .optional()
    .meta({ description: 'Template of a mail or push, class of a background job, event of a parked message' }),
  q: z
    .string()
    .min(1)
    .max(100)
    .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), 'must be plain text')
    .optional()
    .meta({ description: 'Number or id of an order, id of a fan, of a match, or of the job' }),
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

export const jobListAnswer = z.object({ items: z.array(jobAnswer), next_cursor: z.string().nullable() }).meta({ id: 'JobList' });

/** A job in the format of the API. Addresses, names, tokens and codes are masked. */
export function jobView(job: JobView): z.infer<typeof jobAnswer> {
  return {
    id: job.id,
    queue: job.queue,
    template: job.template,
    state: job.state,
    attempts: job.attempts.map(({ at, error }) => ({ at, error: maskedText(error) })),
    created_at: job.createdAt.toISOString(),
    transport: job.transport,
    payload: masked(job.payload),
    interventions: job.interventions.map(({ action, by, at }) => ({ action, by, at: at.toISOString() })),
  };
}

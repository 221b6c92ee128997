import type { JobKind } from '#messaging/jobs/job-runner';
import { z } from 'zod';
import type { TellOperators } from '../application/tell-operators.ts';

const alertOperators = z.object({
  class: z.literal('alert_operators'),
  by: z.enum(['webhook', 'mail']),
  about: z.string(),
  text: z.string(),
  count: z.int().positive().optional(),
  at: z.iso.datetime(),
});

/** The kind of job that sends one alert to the operators. */
export function alertJob(handler: TellOperators): JobKind {
  return { schema: alertOperators, handler };
}

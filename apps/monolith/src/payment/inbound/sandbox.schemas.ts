import { sandboxOutcomes } from '../domain/sandbox-intent.ts';
import { z } from 'zod';

/** Anything that could be an id; whether it is one the books tell. */
export const sandboxIntentId = z.string().regex(/^\w{1,100}$/, 'is not an intent id');

export const confirmation = z
  .strictObject({
    outcome: z.enum(sandboxOutcomes).meta({ description: 'failed may be tried again; abandoned: nothing happens' }),
  })
  .meta({ id: 'SandboxConfirmation' });

export const confirmationAnswer = z
  .object({ intent_id: z.string(), status: z.enum(['requires_payment', 'failed', 'succeeded', 'canceled', 'refunded']) })
  .meta({ id: 'SandboxPayment' });

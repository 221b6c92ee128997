import { z } from 'zod';

/** The format of an intent's id. Whether the intent exists is checked in the database. */
export const sandboxIntentId = z
  .string()
  .regex(/^\w{1,100}$/, 'is not an intent id')
  .meta({ description: '`intent_id` from the answer to the checkout' });

export const sandboxConfirmationRequest = z
  .strictObject({
    outcome: z
      .enum(['succeeded', 'failed', 'abandoned'])
      .meta({ description: 'How the payment ends. After `failed` it may be tried again; `abandoned` changes nothing' }),
  })
  .meta({ id: 'SandboxConfirmation' });
export type SandboxOutcome = z.infer<typeof sandboxConfirmationRequest>['outcome'];

export const sandboxConfirmationAnswer = z
  .object({
    intent_id: z.string().meta({ description: 'Id of the payment intent' }),
    status: z
      .enum(['requires_payment', 'failed', 'succeeded', 'canceled', 'refunded'])
      .meta({ description: 'State of the payment after this call' }),
  })
  .meta({ id: 'SandboxPayment' });

/** The answer to a payment event of the provider. */
export const webhookAnswer = z
  .object({ received: z.literal(true).meta({ description: 'Always true: the provider need not send the event again' }) })
  .meta({ id: 'WebhookReceived' });

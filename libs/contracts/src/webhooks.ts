import { z } from 'zod';
import { idOf } from './answer-fields.ts';
import { pageOf, pageQuery } from './paging.ts';
import { webhookEvents } from './webhook-events.ts';

const eventType = z.enum(webhookEvents);

export const createWebhookRequest = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/, error: 'must be an https URL' })
      .max(2000)
      .refine((url) => {
        const parsed = URL.parse(url);
        return parsed?.username === '' && parsed.password === '' && parsed.hash === '';
      }, 'must be an https URL without a user, a password and a fragment')
      .meta({ description: 'Where events are sent by POST: an https URL on a public address' }),
    events: z
      .array(eventType)
      .min(1)
      .refine((events) => new Set(events).size === events.length, 'names an event twice')
      .meta({ description: 'The events to send there' }),
  })
  .meta({ id: 'CreateWebhookRequest' });

const webhookFields = {
  id: idOf('webhook'),
  url: z.string().meta({ description: 'Where events are sent' }),
  events: z.array(eventType).meta({ description: 'The events that are sent there' }),
  created_by: idOf('operator who added it'),
  created_at: z.iso.datetime().meta({ description: 'When it was added. Earlier events are not sent' }),
};

export const webhookCreatedAnswer = z
  .object({
    ...webhookFields,
    secret: z
      .string()
      .meta({ description: 'Signs the events, as with Stripe: `t=…,v1=…` in `Tribina-Signature`. It is never shown again' }),
  })
  .meta({ id: 'CreatedWebhook' });

export const webhookAnswer = z
  .object({
    ...webhookFields,
    deliveries: z
      .object({
        pending: z.int().meta({ description: 'Not accepted yet' }),
        failed: z.int().meta({ description: 'Given up after 24 hours' }),
      })
      .meta({ description: 'Deliveries of the last 30 days' }),
  })
  .meta({ id: 'Webhook' });

export type Webhook = z.infer<typeof webhookAnswer>;

export const webhookListAnswer = pageOf(webhookAnswer).meta({ id: 'WebhookList' });

export const deliveryStates = ['pending', 'delivered', 'failed'] as const;
const deliveryState = z.enum(deliveryStates);

export const deliveryQuery = pageQuery.extend({
  state: deliveryState.optional().meta({ description: 'Only deliveries in this state' }),
});

export const webhookDeliveryAnswer = z
  .object({
    id: idOf('delivery'),
    event_id: z.guid().meta({ description: '`id` in the body: the same for each attempt' }),
    type: eventType.meta({ description: 'The event' }),
    state: deliveryState.meta({
      description: '`pending`: not accepted yet. `delivered`: answered 2xx. `failed`: not accepted within 24 hours',
    }),
    attempts: z.int().meta({ description: 'How often it was sent' }),
    last_status: z.int().nullable().meta({ description: 'HTTP status of the last answer; null without one' }),
    last_error: z.string().nullable().meta({ description: 'Why the last attempt failed; null if it did not' }),
    next_attempt_at: z.iso.datetime().nullable().meta({ description: 'When it is sent again; null if it is not' }),
    created_at: z.iso.datetime().meta({ description: 'When the event happened' }),
    delivered_at: z.iso.datetime().nullable().meta({ description: 'When it was accepted; null if it was not' }),
    body: z.string().meta({ description: 'What is sent, byte by byte: JSON with `id`, `type`, `created_at` and `data`' }),
  })
  .meta({ id: 'WebhookDelivery' });

export type WebhookDelivery = z.infer<typeof webhookDeliveryAnswer>;

export const webhookDeliveryListAnswer = pageOf(webhookDeliveryAnswer).meta({ id: 'WebhookDeliveryList' });

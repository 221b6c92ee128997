import { z } from 'zod';

/** BullMQ forbids `:` in queue names, so the seed's `notification:` became the prefix; its braces keep all keys in one cluster slot. */
export const JOBS_PREFIX = '{notification}';
export const jobQueues = ['email', 'push', 'push-priority'] as const;
export type JobQueue = (typeof jobQueues)[number];

const seat = z.object({ sector: z.string(), row: z.string().nullable(), seat: z.string().nullable() });
const locale = z.enum(['hr', 'en']);

const orderConfirmation = z.object({
  order_id: z.string(),
  match_name: z.string(),
  kickoff_at: z.iso.datetime(),
  venue: z.string(),
  tickets: z.array(seat),
  total_amount: z.string(),
  locale,
});

const ticketDelivery = z.object({
  order_id: z.string(),
  match_name: z.string(),
  kickoff_at: z.iso.datetime(),
  venue: z.string(),
  tickets: z.array(seat.extend({ ticket_id: z.guid(), holder_name: z.string(), code: z.string() })),
  locale,
});

const refund = z.object({ order_id: z.string(), match_name: z.string(), total_amount: z.string(), locale });

const envelope = {
  job_id: z.string(),
  created_at: z.iso.datetime(),
  attempts: z.literal(0),
  max_attempts: z.literal(3),
};

const email = { ...envelope, type: z.literal('email'), recipient: z.email(), user_id: z.guid().optional() };

export const emailJob = z.discriminatedUnion('template', [
  z.object({ ...email, template: z.literal('order_confirmation'), payload: orderConfirmation }),
  z.object({ ...email, template: z.literal('ticket_delivery'), payload: ticketDelivery }),
  z.object({ ...email, template: z.literal('refund'), payload: refund }),
]);
export type EmailJob = z.infer<typeof emailJob>;

const pushPayload = z.object({ title: z.string(), body: z.string(), data: z.record(z.string(), z.string()) });

export const pushJob = z.object({
  ...envelope,
  type: z.literal('push'),
  template: z.enum(['ticket_delivery', 'queue_your_turn', 'queue_front', 'queue_position']),
  user_id: z.guid(),
  fcm_tokens: z.array(z.string()).min(1).max(500),
  payload: pushPayload,
  priority: z.enum(['high', 'normal']),
  /** After this the message is worthless and is dropped as expired: no turn notice after the window. */
  useful_until: z.iso.datetime().optional(),
});
export type PushJob = z.infer<typeof pushJob>;

export const queueSchemas = { email: emailJob, push: pushJob, 'push-priority': pushJob } satisfies Record<JobQueue, z.ZodType>;

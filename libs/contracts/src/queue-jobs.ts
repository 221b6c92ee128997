import { z } from 'zod';

/**
 * Prefix of the Redis keys of all mail and push queues. It is a key prefix, because BullMQ forbids `:` in queue names such as
 * `notification:email`. The braces keep all keys in one slot of a Redis cluster.
 */
export const JOBS_PREFIX = '{notification}';
/** The queues of the notification worker. `push-priority` has the urgent pushes. */
export const jobQueues = ['email', 'push', 'push-priority'] as const;
export type JobQueue = (typeof jobQueues)[number];

const seat = z.object({ sector: z.string(), row: z.string().nullable(), seat: z.string().nullable() });
/** The language of a mail; Croatian if the job has none. */
const locale = z.enum(['hr', 'en']).default('hr');

/**
 * Match data of a mail. Kickoff and venue are optional, except in a reminder and in a notice of a changed match (`match` below).
 */
const matchFacts = { match_name: z.string(), kickoff_at: z.iso.datetime().optional(), venue: z.string().optional(), locale };

const match = { ...matchFacts, kickoff_at: z.iso.datetime(), venue: z.string() };

/**
 * What the message is about and where it comes from, for operators who search for it. Not part of the text of the mail or push.
 * `request_id` and `traceparent` are those of the request that caused the message; for a purchase, of its checkout.
 */
const about = z
  .object({
    order_id: z.guid(),
    order_number: z.string(),
    reservation_id: z.guid(),
    match_id: z.guid(),
    quota_id: z.guid(),
    invitation_id: z.guid(),
    transfer_id: z.guid(),
    request_id: z.string(),
    traceparent: z.string(),
  })
  .partial();
/** What a mail or push is about. */
export type AboutMessage = z.infer<typeof about>;

const envelope = {
  job_id: z.string(),
  created_at: z.iso.datetime(),
  attempts: z.literal(0).default(0),
  max_attempts: z.literal(3).default(3),
  about: about.optional(),
};

/**
 * The time after which the message is not sent, because it would be useless. Examples: a turn notice after the window, a reminder
 * after the match.
 */
const usefulUntil = z.iso.datetime().optional();

const email = {
  ...envelope,
  type: z.literal('email'),
  recipient: z.email(),
  user_id: z.guid().optional(),
  useful_until: usefulUntil,
};
const mail = <Template extends string, Payload extends z.ZodRawShape>(template: Template, payload: Payload) =>
  z.object({ ...email, template: z.literal(template), payload: z.object(payload) });

/** A job of the queue `email`: one mail, with the payload that its template needs. */
export const emailJob = z.discriminatedUnion('template', [
  mail('order_confirmation', { ...matchFacts, order_id: z.string(), tickets: z.array(seat), total_amount: z.string() }),
  mail('ticket_delivery', {
    ...matchFacts,
    order_id: z.string(),
    tickets: z.array(
      seat.extend({ ticket_id: z.guid(), holder_name: z.string(), code: z.string(), gate: z.string().nullable().optional() }),
    ),
  }),
  mail('refund', {
    order_id: z.string(),
    match_name: z.string(),
    total_amount: z.string(),
    /**
     * Only in the mail to a fan who got tickets by transfer: how many of those tickets were refunded. The mail to the buyer, who
     * gets the money, has no such field.
     */
    received: z.int().positive().optional(),
    locale,
  }),
  mail('quota_invitation', {
    ...matchFacts,
    quota_name: z.string(),
    tickets_count: z.int().positive(),
    claim_until: z.iso.datetime(),
    claim_url: z.url({ protocol: /^https?$/ }),
    /** The name of the invited person, if the partner gave it. */
    invited_name: z.string().optional(),
    /** The price of all places; an amount of 0 is free of charge. */
    total_amount: z.string().optional(),
    /** True in the mail that reminds of an earlier invitation. */
    reminder: z.boolean().optional(),
  }),
  /** To the contact of a quota, about the deadline at which its free places go back. */
  mail('quota_return', {
    ...match,
    quota_name: z.string(),
    /** `week` and `day` are sent so long before the deadline. */
    notice: z.enum(['week', 'day', 'returned']),
    return_at: z.iso.datetime(),
    /** The free places; for `returned` those that went back, or stay with `keep`. */
    places_count: z.int().min(0),
    on_return: z.enum(['public', 'parent', 'keep']),
    /** The quota that gets the places. Only with the value `parent` of `on_return`. */
    parent_name: z.string().optional(),
  }),
  /** To a person to whom a fan offers a ticket. It has nothing that the fan has typed. */
  mail('transfer_offer', { ...matchFacts, ticket: seat, expires_at: z.iso.datetime() }),
  /** To the giver: how the offer of a ticket has ended. */
  mail('transfer_answer', { ...matchFacts, ticket: seat, outcome: z.enum(['accepted', 'declined', 'expired']) }),
  mail('match_reminder', { ...match, tickets: z.array(seat).min(1) }),
  mail('match_changed', {
    ...match,
    change: z.enum(['moved', 'cancelled']),
    previous_kickoff_at: z.iso.datetime(),
    previous_venue: z.string(),
    /** The operator's reason for a cancellation. */
    reason: z.string().optional(),
  }),
  mail('ops_alert', { about: z.string(), text: z.string(), at: z.iso.datetime(), locale }),
]);
export type EmailJob = z.infer<typeof emailJob>;
/** The names of all mail templates. */
export const mailTemplates = emailJob.options.map((option) => option.shape.template.value);

const pushPayload = z.object({ title: z.string(), body: z.string(), data: z.record(z.string(), z.string()) });

const push = {
  ...envelope,
  type: z.literal('push'),
  template: z.enum([
    'ticket_delivery',
    'queue_your_turn',
    'queue_front',
    'queue_position',
    'quota_invitation',
    'transfer_offer',
    'match_reminder',
    'match_changed',
  ]),
  payload: pushPayload,
  priority: z.enum(['high', 'normal']),
  useful_until: usefulUntil,
};

/** Maximum number of devices in one push job. */
export const MAX_DEVICES_PER_JOB = 500;

/** A push to the phones of one fan. */
export const pushJob = z.object({ ...push, user_id: z.guid(), fcm_tokens: z.array(z.string()).min(1).max(MAX_DEVICES_PER_JOB) });
export type PushJob = z.infer<typeof pushJob>;
/** The names of all push templates. */
export const pushTemplates = pushJob.shape.template.options;

const range = z
  .object({ from: z.int().min(0), to: z.int().min(1) })
  .refine(({ from, to }) => from < to && to - from <= MAX_DEVICES_PER_JOB, 'must be 1 to 500 devices');

/**
 * A part of a broadcast (a push to all ticket holders of a match). Its devices are the rows `from` (inclusive) to `to`
 * (exclusive) of the table `broadcast_devices`.
 */
export const broadcastJob = z.object({ ...push, broadcast_id: z.guid(), range });
/** One part of a broadcast, as a job of its own. */
export type BroadcastJob = z.infer<typeof broadcastJob>;

/**
 * A bundle: many jobs of one broadcast as one queue message. The worker adds the single jobs to the queue. The relay delivers
 * hundreds of thousands of outbox rows a second in bundles, and 15,000 a second as single jobs. `ranges` is a string that
 * contains JSON, `[[job_id, range], …]`: PostgreSQL builds it as text, because a JSON value would double the cost of a row. Each
 * range is checked later, when its job runs, so that only the job of an invalid range becomes a dead letter, not all jobs of the
 * bundle.
 */
export const broadcastBundle = z.object({
  ...push,
  broadcast_id: z.guid(),
  ranges: z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: 'custom', message: 'must be JSON' });
        return z.NEVER;
      }
    })
    .pipe(z.array(z.tuple([z.guid(), z.unknown()])).min(1)),
});
/** Many jobs of one broadcast as one queue message, with `ranges` parsed. */
export type BroadcastBundle = z.infer<typeof broadcastBundle>;

/** Splits a bundle into its single jobs, without a check of their ranges. */
export function jobsOfBundle({ ranges, ...job }: BroadcastBundle): (Omit<BroadcastJob, 'range'> & { readonly range: unknown })[] {
  return ranges.map(([job_id, range]) => ({ ...job, job_id, range }));
}

/** Whatever a push queue may contain: a push to one fan, a part of a broadcast, or a bundle of such parts. */
export const anyPushJob = z.union([pushJob, broadcastJob, broadcastBundle]);
export type AnyPushJob = z.infer<typeof anyPushJob>;

/** The schema of the jobs of each queue. */
export const queueSchemas = {
  email: emailJob,
  push: anyPushJob,
  'push-priority': anyPushJob,
} satisfies Record<JobQueue, z.ZodType>;

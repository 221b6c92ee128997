import { z } from 'zod';

/**
 * What the waiting room tells the monolith: written to the match's event stream and published on `queue_events` by the
 * same script that changed the line. The stream is the guarantee, the publication a hint to read it now.
 */
export const QUEUE_EVENTS_CHANNEL = 'queue_events';

const turnGranted = z.object({
  event: z.literal('queue.turn_granted'),
  user_id: z.guid(),
  match_id: z.guid(),
  session_token: z.string().startsWith('st_'),
  expires_at: z.iso.datetime(),
  /** Of the state in Redis that granted it; a turn of an older generation is void. */
  generation: z.int().optional(),
  /** Join time (µs) of the place that had this turn. */
  place_score: z.int().optional(),
});

const windowExpired = z.object({
  event: z.literal('queue.expired'),
  user_id: z.guid(),
  match_id: z.guid(),
  reason: z.enum(['window_timeout', 'left', 'closed']),
  /** Which window ended: a fan may have had several turns for one match. */
  session_token: z.string().optional(),
});

const frontReached = z.object({ event: z.literal('queue.front_reached'), user_id: z.guid(), match_id: z.guid() });

const positionUpdate = z.object({
  event: z.literal('queue.position_update'),
  match_id: z.guid(),
  items: z.array(z.object({ user_id: z.guid(), position: z.int(), estimated_wait_minutes: z.int().nullable() })).max(500),
});

/** Published only: Redis knows nothing of this match, and the waiting room needs its state (`PUT …/restore`). Repeated every second. */
export const queueStateNeeded = z.object({ event: z.literal('queue.state_needed'), match_id: z.guid() });

export const queueEvent = z.discriminatedUnion('event', [turnGranted, windowExpired, frontReached, positionUpdate]);
export type QueueEvent = z.infer<typeof queueEvent>;

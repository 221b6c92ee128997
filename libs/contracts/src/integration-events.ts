import { z } from 'zod';

/**
 * Redis channel for events of the waiting room to the monolith. The script that changes the line appends the event to the match's
 * stream and publishes it here. The stream guarantees delivery; the message only tells the monolith to read the stream now.
 */
export const QUEUE_EVENTS_CHANNEL = 'queue_events';

const turnGranted = z.object({
  event: z.literal('queue.turn_granted'),
  user_id: z.guid(),
  match_id: z.guid(),
  session_token: z.string().startsWith('st_'),
  expires_at: z.iso.datetime(),
  /** Generation of the match's Redis state that granted the turn. A turn of an older generation is void. */
  generation: z.int().optional(),
  /** Join time (µs) of the queue entry that got this turn. */
  place_score: z.int().optional(),
});

const windowExpired = z.object({
  event: z.literal('queue.expired'),
  user_id: z.guid(),
  match_id: z.guid(),
  reason: z.enum(['window_timeout', 'left', 'closed']),
  /** The turn that ended. A fan may have had several turns for one match. */
  session_token: z.string().optional(),
});

const frontReached = z.object({ event: z.literal('queue.front_reached'), user_id: z.guid(), match_id: z.guid() });

const positionUpdate = z.object({
  event: z.literal('queue.position_update'),
  match_id: z.guid(),
  items: z.array(z.object({ user_id: z.guid(), position: z.int(), estimated_wait_minutes: z.int().nullable() })).max(500),
});

/**
 * Redis has lost the state of this match, and the waiting room asks for it (`PUT …/restore`). Only published, not in the stream.
 * Repeated every second.
 */
export const queueStateNeeded = z.object({ event: z.literal('queue.state_needed'), match_id: z.guid() });

export const queueEvent = z.discriminatedUnion('event', [turnGranted, windowExpired, frontReached, positionUpdate]);
export type QueueEvent = z.infer<typeof queueEvent>;

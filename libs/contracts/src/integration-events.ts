import { z } from 'zod';

/**
 * Redis channel on which the waiting room publishes its events to the monolith. The script that changes the line also appends the
 * event to the Redis stream of the match. The stream guarantees delivery; a message on this channel only tells the monolith to
 * read the stream now.
 */
export const QUEUE_EVENTS_CHANNEL = 'queue_events';

const turnGranted = z.object({
  event: z.literal('queue.turn_granted'),
  user_id: z.guid(),
  match_id: z.guid(),
  session_token: z.string().startsWith('st_'),
  expires_at: z.iso.datetime(),
  /**
   * The generation of the match state in Redis that granted the turn. It grows with each restore of that state; a turn of an
   * older generation is void.
   */
  generation: z.int().optional(),
  /** Join time (µs) of the queue entry that got this turn. */
  place_score: z.int().optional(),
});

const windowExpired = z.object({
  event: z.literal('queue.expired'),
  user_id: z.guid(),
  match_id: z.guid(),
  reason: z.enum(['window_timeout', 'left', 'closed']),
  /** Session token of the turn that ended. A fan may have had several turns for one match. */
  session_token: z.string().optional(),
});

const frontReached = z.object({ event: z.literal('queue.front_reached'), user_id: z.guid(), match_id: z.guid() });

const positionUpdate = z.object({
  event: z.literal('queue.position_update'),
  match_id: z.guid(),
  items: z.array(z.object({ user_id: z.guid(), position: z.int(), estimated_wait_minutes: z.int().nullable() })).max(500),
});

const joinsFromOneAddress = z.object({
  event: z.literal('queue.joins_from_one_address'),
  match_id: z.guid(),
  /** An IPv4 address, or the /64 network of an IPv6 address. */
  address: z.string().max(64),
  /** The joins of this address in the first minute after the opening, and the length of the line then. */
  joins: z.int(),
  line: z.int(),
});

/**
 * Published when Redis has lost the state of the match: the waiting room asks the monolith to send it (`PUT …/restore`). It is
 * repeated every second and is not in the stream.
 */
export const queueStateNeeded = z.object({ event: z.literal('queue.state_needed'), match_id: z.guid() });

/** Any event that the waiting room writes to the Redis stream of a match, for the monolith. */
export const queueEvent = z.discriminatedUnion('event', [
  turnGranted,
  windowExpired,
  frontReached,
  positionUpdate,
  joinsFromOneAddress,
]);
export type QueueEvent = z.infer<typeof queueEvent>;

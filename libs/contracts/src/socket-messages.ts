import { z } from 'zod';

/**
 * Tells a fan in line the current position. Like all messages to fans it has the same JSON on the WebSocket and on the event
 * stream (SSE).
 */
export const positionUpdateMessage = z.object({
  type: z.literal('position_update'),
  position: z.int().min(0),
  total: z.int().min(0),
  estimated_wait_minutes: z.int().nullable(),
  estimated_wait_range: z.tuple([z.int(), z.int()]).nullable().optional(),
  paused: z.boolean().optional(),
  reason: z.string().optional(),
  remaining_sectors: z.array(z.object({ sector_id: z.guid(), name: z.string(), available: z.int() })).optional(),
});

/** Tells a fan that the turn to buy has begun. */
export const turnGrantedMessage = z.object({
  type: z.literal('turn_granted'),
  purchase_window_expires_at: z.iso.datetime(),
  checkout_url: z.url(),
  session_token: z.string().startsWith('st_'),
});

/** Tells a fan that the line has closed, and why. */
export const queueClosedMessage = z.object({ type: z.literal('queue_closed'), reason: z.enum(['sold_out', 'closed']) });
/** Tells a fan that the turn has expired, or that the fan was removed from the line after too long an absence. */
export const turnExpiredMessage = z.object({ type: z.literal('turn_expired') });
/** Tells a fan that the turn has ended with a purchase. */
export const turnCompletedMessage = z.object({ type: z.literal('turn_completed') });
/** The answer to `heartbeatMessage`. */
export const heartbeatAckMessage = z.object({ type: z.literal('heartbeat_ack') });
/** Tells a fan that the line cannot be read at the moment. The fan keeps the position. */
export const delayedMessage = z.object({ type: z.literal('delayed') });
/** The answer to a message of an unknown type. */
export const errorMessage = z.object({ type: z.literal('error'), code: z.literal('UNKNOWN_MESSAGE_TYPE') });

/** Any message of the waiting room to a fan. */
export const serverMessage = z.discriminatedUnion('type', [
  positionUpdateMessage,
  turnGrantedMessage,
  queueClosedMessage,
  turnExpiredMessage,
  turnCompletedMessage,
  heartbeatAckMessage,
  delayedMessage,
  errorMessage,
]);

/** Sent by the client of a fan once a minute. The server answers with `heartbeat_ack`. */
export const heartbeatMessage = z.object({ type: z.literal('heartbeat') });

/**
 * Codes with which the waiting room closes a WebSocket. After 4000–4499 the client reconnects with backoff; after 4500–4999 it
 * does not reconnect.
 */
export const closeCodes = {
  draining: 4000,
  unknownToken: 4501,
  notJson: 4502,
  tooLarge: 4503,
  tooManyMessages: 4504,
  left: 4505,
  over: 4506,
  replacedByNewerDevice: 4507,
} as const;

import { z } from 'zod';
import { idOf } from './answer-fields.ts';

/** The type of a message, which says what its other members are. */
const messageType = <T extends string>(type: T) => z.literal(type).meta({ description: 'Says which message this is' });

/**
 * Tells a fan in line the current position. Like all messages to fans it has the same JSON on the WebSocket and on the event
 * stream (SSE).
 */
export const positionUpdateMessage = z.object({
  type: messageType('position_update'),
  position: z.int().min(0).meta({ description: 'Place of the fan in line. 1 is the front' }),
  total: z.int().min(0).meta({ description: 'Fans in line now' }),
  estimated_wait_minutes: z
    .int()
    .nullable()
    .meta({ description: 'Expected wait until the turn, in whole minutes. Null while unknown or paused' }),
  estimated_wait_range: z
    .tuple([z.int(), z.int()])
    .nullable()
    .optional()
    .meta({ description: 'p50 and p90 of the wait, in whole minutes. Null while unknown or paused' }),
  paused: z.boolean().optional().meta({ description: 'True while the sale is paused: no turns are granted' }),
  reason: z.string().optional().meta({ description: 'Why the sale is paused' }),
  remaining_sectors: z
    .array(
      z.object({
        sector_id: idOf('sector'),
        name: z.string().meta({ description: 'Name of the sector' }),
        available: z.int().meta({ description: 'Free seats of the sector' }),
      }),
    )
    .optional()
    .meta({ description: 'The sectors that still have free seats. Missing: the monolith has not reported any' }),
});

/** Tells a fan that the turn to buy has begun. */
export const turnGrantedMessage = z.object({
  type: messageType('turn_granted'),
  purchase_window_expires_at: z.iso.datetime().meta({ description: 'When the turn ends' }),
  checkout_url: z.url().meta({ description: 'The page on which the fan buys. It contains no secret' }),
  session_token: z
    .string()
    .startsWith('st_')
    .meta({ description: 'Proof of the turn, for its fan only: sent as `X-Purchase-Session` with a hold' }),
});

/** Tells a fan that the line has closed, and why. */
export const queueClosedMessage = z.object({
  type: messageType('queue_closed'),
  reason: z.enum(['sold_out', 'closed']).meta({ description: 'Whether everything is sold, or an operator closed the sale' }),
});
/** Tells a fan that the turn has expired, or that the fan was removed from the line after too long an absence. */
export const turnExpiredMessage = z.object({ type: messageType('turn_expired') });
/** Tells a fan that the turn has ended with a purchase. */
export const turnCompletedMessage = z.object({ type: messageType('turn_completed') });
/** The answer to `heartbeatMessage`. */
export const heartbeatAckMessage = z.object({ type: messageType('heartbeat_ack') });
/** Tells a fan that the line cannot be read at the moment. The fan keeps the position. */
export const delayedMessage = z.object({ type: messageType('delayed') });
/** The answer to a message of an unknown type. */
export const errorMessage = z.object({
  type: messageType('error'),
  code: z.literal('UNKNOWN_MESSAGE_TYPE').meta({ description: 'The `type` of the message is unknown' }),
});

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
export const heartbeatMessage = z.object({ type: messageType('heartbeat') });

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

import { z } from 'zod';

const id = (description: string) => z.guid().toLowerCase().meta({ description });

/** The path parameter `match_id`, a UUID. */
export const matchParameter = id('The match');
/** The path parameter `user_id`, a UUID. */
export const userParameter = id('The fan');

/** The optional body of a join. */
export const joinRequest = z
  .strictObject({
    receipt: z
      .string()
      .max(300)
      .optional()
      .meta({ description: 'From the answer of an earlier join; restores the queue entry after a loss of Redis' }),
  })
  .optional();

/**
 * The optional body of the call that completes a window. With `session_token` a late repetition cannot end a later window of the
 * same fan.
 */
export const completeRequest = z
  .strictObject({
    session_token: z
      .string()
      .max(100)
      .optional()
      .meta({ description: 'The turn that ends. Without it the current turn of the fan ends' }),
  })
  .optional();

/** The answer to the requests `join` and `position`. */
export const positionAnswer = z
  .object({
    position: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: '1 is the front of the line. 0 while the fan has a turn. Null after the end' }),
    total: z.int().min(0).meta({ description: 'Fans in line now' }),
    estimated_wait_minutes: z
      .int()
      .nullable()
      .meta({ description: 'Expected wait until the turn, in whole minutes. Null while unknown or paused, and after the end' }),
    estimated_wait_range: z
      .tuple([z.int(), z.int()])
      .nullable()
      .meta({ description: 'p50 and p90 of the wait, in whole minutes. Null while unknown or paused, and after the end' }),
    status: z.enum(['waiting', 'granted', 'expired', 'completed', 'closed']).meta({
      description: '`granted`: the turn is running. `expired`, `completed` and `closed`: how the entry or the turn ended',
    }),
    queue_token: z.string().nullable().meta({
      description: 'Opaque token for the socket and the stream, the same on all devices of the fan. Null after the end',
    }),
    websocket_url: z.string().nullable().meta({ description: 'Absolute URL of the WebSocket of this fan. Null after the end' }),
    sse_url: z
      .string()
      .nullable()
      .meta({ description: 'Absolute URL of the event stream with the same messages. Null after the end' }),
    receipt: z.string().nullable().meta({
      description: 'Proof of the position. A later join with it restores the position after a loss of Redis. Null after the end',
    }),
    paused: z.boolean().optional().meta({ description: 'True while the sale is paused: no turns are granted' }),
    reason: z.string().optional().meta({ description: 'Why the sale is paused, or why the line is closed' }),
    purchase_window_expires_at: z.iso.datetime().optional().meta({ description: 'When the turn ends. Only while `granted`' }),
    session_token: z
      .string()
      .optional()
      .meta({ description: 'Proof of the turn: sent as `X-Purchase-Session` with a hold. Only while `granted`' }),
    checkout_url: z.string().optional().meta({ description: 'The page on which the fan buys. Only while `granted`' }),
  })
  .meta({ id: 'QueuePlace' });
/** The answer to the requests `join` and `position`, as parsed by `positionAnswer`. */
export type PositionAnswer = z.infer<typeof positionAnswer>;

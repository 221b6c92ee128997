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
export const completeRequest = z.strictObject({ session_token: z.string().max(100).optional() }).optional();

/** The answer to the requests `join` and `position`. */
export const positionAnswer = z
  .object({
    position: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: '1 is the front of the line; 0 while the fan has a turn; null after the end' }),
    total: z.int().min(0),
    estimated_wait_minutes: z.int().nullable(),
    estimated_wait_range: z.tuple([z.int(), z.int()]).nullable().meta({ description: 'p50 and p90, in minutes' }),
    status: z.enum(['waiting', 'granted', 'expired', 'completed', 'closed']),
    queue_token: z.string().nullable(),
    websocket_url: z.string().nullable(),
    sse_url: z.string().nullable(),
    receipt: z.string().nullable(),
    paused: z.boolean().optional(),
    reason: z.string().optional(),
    purchase_window_expires_at: z.iso.datetime().optional(),
    session_token: z.string().optional(),
    checkout_url: z.string().optional(),
  })
  .meta({ id: 'QueuePlace' });
/** The answer to the requests `join` and `position`, as parsed by `positionAnswer`. */
export type PositionAnswer = z.infer<typeof positionAnswer>;

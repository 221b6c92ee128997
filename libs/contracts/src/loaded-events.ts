import { z } from 'zod';

/**
 * One page of events, as an HTTP source answers the event loader. The loader parses the members of `events` one by one, so that
 * an invalid event does not affect the valid ones: `{"id": positive integer, as a number or (above 2^53) as text, "payload":
 * {…}}`. `digest` is optional: how many events the source has up to an id. The loader compares this number with its own to see
 * whether events are missing.
 */
export const sourcePage = z.looseObject({
  events: z.array(z.unknown()),
  digest: z
    .object({
      up_to_id: z.union([z.int().positive(), z.string().regex(/^[1-9]\d{0,18}$/)]).transform(String),
      count: z.int().min(0),
    })
    .optional()
    .catch(undefined),
});

import { z } from 'zod';

/**
 * The answer of an HTTP source to the event loader. `events` is parsed one by one, so an invalid event does not affect the others:
 * `{"id": positive integer, as a number or (above 2^53) as text, "payload": {…}}`. `digest` is optional: the source's number of
 * events up to an id, from which the loader sees that events are missing.
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

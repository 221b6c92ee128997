import { z } from 'zod';

/**
 * What an HTTP source answers the event loader. Each event is read by itself, so that a bad one does not spoil the others:
 * `{"id": positive integer, as a number or (beyond 2^53) as text, "payload": {…}}`. With `digest` it says how many events it
 * has up to an id, and the loader says what is missing.
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

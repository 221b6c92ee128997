import { z } from 'zod';

/** One event in the log of a stadium gate: a ticket code was scanned, and the person was admitted or refused. */
export const gateScan = z.looseObject({
  type: z.literal('gate.scan'),
  /** The scanned text. It may be any text, not only a ticket code of ours. */
  code: z.string().min(1).max(1000),
  /** The match for which the gate was open. */
  match_id: z.guid().transform((id) => id.toLowerCase()),
  gate: z.string().min(1).max(100),
  scanned_at: z.iso.datetime({ offset: true }),
  /** Whether the gate admitted the person. A gate without a network admits every ticket whose signature is valid. */
  admitted: z.boolean(),
});

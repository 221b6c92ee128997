import { z } from 'zod';

/** A gate's log, event by event: a code was held to a scanner, and somebody went in or did not. */
export const gateScan = z.looseObject({
  type: z.literal('gate.scan'),
  /** The text of the QR code, whatever it was. */
  code: z.string().min(1).max(1000),
  /** What is on at this gate. */
  match_id: z.guid().transform((id) => id.toLowerCase()),
  gate: z.string().min(1).max(100),
  scanned_at: z.iso.datetime({ offset: true }),
  /** What the gate did. A gate without a network lets in whoever has a genuine code. */
  admitted: z.boolean(),
});

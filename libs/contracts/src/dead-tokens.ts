import { z } from 'zod';

/** The worker finds out that tokens are dead; the devices are the monolith's, which is told through the outbox. */
export const DEVICES_DESTINATION = 'devices';

export const DEAD_TOKENS_EVENT = 'device.tokens_dead';

export const deadTokens = z.object({
  fcm_tokens: z.array(z.string()).min(1).max(500),
  /** A device that registered the token again after this keeps it. */
  found_at: z.iso.datetime(),
});
export type DeadTokens = z.infer<typeof deadTokens>;

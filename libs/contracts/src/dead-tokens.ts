import { z } from 'zod';

/** The worker finds invalid FCM tokens. The monolith owns the devices, so the worker sends the tokens to it through the outbox. */
export const DEVICES_DESTINATION = 'devices';

export const DEAD_TOKENS_EVENT = 'device.tokens_dead';

/** Tokens that FCM has reported as invalid. */
export const deadTokens = z.object({
  fcm_tokens: z.array(z.string()).min(1).max(500),
  /** A device that registered the token again after this time keeps it. */
  found_at: z.iso.datetime(),
});
export type DeadTokens = z.infer<typeof deadTokens>;

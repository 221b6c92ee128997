import { z } from 'zod';

/**
 * Outbox destination of invalid FCM tokens (addresses of phones). The notification worker finds them; the monolith owns the
 * devices and deletes the tokens.
 */
export const DEVICES_DESTINATION = 'devices';

/** Event name of the outbox messages with invalid tokens. */
export const DEAD_TOKENS_EVENT = 'device.tokens_dead';

/** Body of a message with tokens that FCM (Firebase Cloud Messaging) has reported as invalid. */
export const deadTokens = z.object({
  fcm_tokens: z.array(z.string()).min(1).max(500),
  /** When FCM reported the tokens. A device that registered its token again after this time keeps it. */
  found_at: z.iso.datetime(),
});
export type DeadTokens = z.infer<typeof deadTokens>;

/**
 * Timeout of one call to a provider. It is half of CLAIM_LOCK_MS, so that no other worker claims a send whose call is in
 * progress.
 */
export const CALL_TIMEOUT_MS = 10_000;
/**
 * Lifetime of the claim of a send (the mark set before the call). After it another worker may claim the unfinished send. Not
 * longer than the delay before the first retry.
 */
export const CLAIM_LOCK_MS = 20_000;

/** The longest one call to a provider may take; half a claim's lock, so that nobody takes over a send that is under way. */
export const CALL_TIMEOUT_MS = 10_000;
/** An unfinished claim older than this may be taken over. No longer than the first retry waits. */
export const CLAIM_LOCK_MS = 20_000;

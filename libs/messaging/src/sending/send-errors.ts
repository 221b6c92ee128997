import type { CallOutcomes } from './provider-limiter.ts';

/**
 * Base of all errors of sending a mail or push. The subclasses say whether the message may have been sent, whether the provider
 * is down, and whether a retry makes sense.
 */
export abstract class SendFailure extends Error {}

/** The provider refused this message. It would refuse a retry, too. */
export class Refused extends SendFailure {}

/**
 * The message was certainly not sent, although the provider is up: our settings are wrong, or the provider refused the message
 * for now.
 */
export class NotSent extends SendFailure {}

/** The provider answered 429 (rate limited): the message was not sent. Pause all sends for `forMs`. */
export class RateLimited extends SendFailure {
  constructor(
    readonly forMs: number,
    reason: string,
  ) {
    super(reason);
  }
}

/** The provider answered 5xx or is unreachable: the message was not sent. Counts as a failure of the provider. */
export class ProviderDown extends SendFailure {}

/** The request was sent, but no answer came: the message may have been sent. Counts as a failure of the provider, too. */
export class NoAnswer extends SendFailure {}

/** What a failed call means for the provider's rate limiter and breaker. */
export function outcomeOf(error: unknown): CallOutcomes {
  if (error instanceof RateLimited) return { rateLimited: { calls: 1, forMs: error.forMs } };
  return error instanceof ProviderDown || error instanceof NoAnswer ? { failed: 1 } : { answered: 1 };
}

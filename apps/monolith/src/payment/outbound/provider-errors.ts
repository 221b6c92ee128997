import { RequestRefused } from '#platform/http/request-refused';

/**
 * The provider did not answer, not in time, or "not now". What it did is unknown, so the same call with the same key comes
 * again. A fan at the checkout is told to try again.
 */
export class ProviderAway extends RequestRefused {
  constructor(
    readonly reason: string,
    /** It answers others: this call is what it cannot do. */
    readonly onlyThisCall = false,
    cause?: unknown,
  ) {
    super('DEPENDENCY_UNAVAILABLE', { detail: 'The payment provider does not answer. Nothing was charged; try again.', cause });
    this.message = reason;
  }
}

/** The provider said no, and will say so again: a mistake of ours, for people to look at. */
export class ProviderRefused extends Error {
  constructor(
    reason: string,
    /** The provider's word for it. */
    readonly code: string | undefined = undefined,
  ) {
    super(reason);
    this.name = 'ProviderRefused';
  }
}

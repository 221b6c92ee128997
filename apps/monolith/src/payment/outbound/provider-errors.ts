import { DomainError } from '#domain/shared/domain-error';
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
    /** The answer it came with; `type` is the provider's group of refusals, such as `card_error`. */
    readonly answer: { readonly status: number; readonly type: string | undefined } | undefined = undefined,
  ) {
    super(reason);
    this.name = 'ProviderRefused';
  }
}

/** The provider takes no payment for this order. The fan is told; `reason` is the provider's own code. */
export function paymentRefused(reason: string): DomainError {
  return new DomainError(
    'PAYMENT_REFUSED',
    'The payment provider refuses this payment. Nothing was charged; the seats stay on hold.',
    {
      reason,
    },
  );
}

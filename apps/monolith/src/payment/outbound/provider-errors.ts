import { DomainError } from '#domain/shared/domain-error';
import { RequestRefused } from '#platform/http/request-refused';

/**
 * The payment provider did not answer, answered too late, or asked us to try later. We do not know whether the call had an
 * effect, so the call is repeated with the same key. At the checkout the fan is told to try again.
 */
export class ProviderUnavailable extends RequestRefused {
  constructor(
    readonly reason: string,
    /** True if the provider works for other calls and keeps failing for this one. */
    readonly isOnlyThisCall = false,
    cause?: unknown,
  ) {
    super('DEPENDENCY_UNAVAILABLE', { detail: 'The payment provider does not answer. Nothing was charged; try again.', cause });
    this.message = reason;
  }
}

/**
 * The payment provider refused the call, and a repeat would be refused too. The refusal is caused by a mistake of ours that an
 * operator must look at.
 */
export class ProviderRefused extends Error {
  constructor(
    reason: string,
    /** The provider's error code. */
    readonly code: string | undefined = undefined,
    /** The answer of the provider; `type` is its group of errors, such as `card_error`. */
    readonly answer: { readonly status: number; readonly type: string | undefined } | undefined = undefined,
  ) {
    super(reason);
    this.name = 'ProviderRefused';
  }
}

/** The provider does not accept a payment for this order. The fan gets this error; `reason` is the provider's own code. */
export function paymentRefused(reason: string): DomainError {
  const detail = 'The payment provider refuses this payment. Nothing was charged; the seats stay on hold.';
  return new DomainError('PAYMENT_REFUSED', detail, { reason });
}

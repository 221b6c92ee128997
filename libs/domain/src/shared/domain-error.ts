/** The codes with which domain rules refuse a request. The error catalogue of the HTTP layer maps each code to an answer. */
export type DomainErrorCode =
  | 'ALL_SEATS_HELD'
  | 'BLACKLISTED'
  | 'DEPENDENCY_UNAVAILABLE'
  | 'HOLD_COOLDOWN'
  | 'INVALID_STATE'
  | 'INVITATION_CLAIMED'
  | 'INVITATION_EXPIRED'
  | 'LOCK_TIMEOUT'
  | 'MOVE_REFUSED'
  | 'NOT_FOUND'
  | 'OUTCOME_UNKNOWN'
  | 'PAYMENT_REFUSED'
  | 'PURCHASE_WINDOW_EXPIRED'
  | 'PURCHASE_WINDOW_REQUIRED'
  | 'QUEUE_CLOSED'
  | 'QUOTA_EXCEEDED'
  | 'RESERVATION_EXPIRED'
  | 'SALE_NOT_OPEN'
  | 'SEATS_BUSY'
  | 'SEATS_UNAVAILABLE'
  | 'SOLD_OUT'
  | 'TICKET_LIMIT_REACHED'
  | 'TRANSFERS_LOCKED'
  | 'VALIDATION_FAILED';

/**
 * A request refused by a domain rule: a stable code, a sentence for people and data for programs. It is not retried and not logged
 * as a failure.
 */
export class DomainError extends Error {
  constructor(
    readonly code: DomainErrorCode,
    message: string,
    readonly data: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = code;
  }
}

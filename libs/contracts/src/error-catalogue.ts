import type { DomainErrorCode } from '#domain/shared/domain-error';

/** Error codes for faults of a request that are found before any business rule is checked. */
export type TransportErrorCode =
  | 'FORBIDDEN'
  | 'HEADERS_TOO_LARGE'
  | 'IDEMPOTENCY_KEY_INVALID'
  | 'IDEMPOTENCY_KEY_IN_USE'
  | 'IDEMPOTENCY_KEY_REQUIRED'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'INTERNAL_ERROR'
  | 'ORIGIN_NOT_ALLOWED'
  | 'PAYLOAD_TOO_LARGE'
  | 'RATE_LIMITED'
  | 'REQUEST_TIMEOUT'
  | 'SHUTTING_DOWN'
  | 'UNAUTHENTICATED'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'URI_TOO_LONG';

/** Any error code of the API: of a business rule, or of a fault of the request. */
export type ErrorCode = DomainErrorCode | TransportErrorCode;

/** What the catalogue says about one error code. */
export interface ErrorRow {
  readonly status: number;
  readonly title: string;
  /**
   * What a client should do after the error. `no`: send another request; `same-key`: repeat the request with the same idempotency
   * key; `later`: repeat the request later.
   */
  readonly retry: 'no' | 'same-key' | 'later';
  /** Seconds for the header `Retry-After`, unless the thrown error sets another value. */
  readonly retryAfterSeconds?: number;
}

/** All error codes of the API. A code is never renamed and never reused with another meaning. */
export const errorCatalogue = {
  ALL_SEATS_HELD: { status: 409, title: 'Every seat is held, something may come back', retry: 'later' },
  BLACKLISTED: { status: 403, title: 'This account may not buy', retry: 'no' },
  DEPENDENCY_UNAVAILABLE: { status: 503, title: 'A part of the system does not answer', retry: 'same-key', retryAfterSeconds: 2 },
  FORBIDDEN: { status: 403, title: 'Not allowed', retry: 'no' },
  HEADERS_TOO_LARGE: { status: 431, title: 'The headers are too large', retry: 'no' },
  HOLD_COOLDOWN: { status: 429, title: 'Too many holds of this match ended unpaid', retry: 'later' },
  IDEMPOTENCY_KEY_INVALID: { status: 400, title: 'The idempotency key is malformed', retry: 'no' },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    title: 'A request with this key is still running',
    retry: 'same-key',
    retryAfterSeconds: 1,
  },
  IDEMPOTENCY_KEY_REQUIRED: { status: 400, title: 'An idempotency key is needed', retry: 'no' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'The idempotency key was used for another request', retry: 'no' },
  INTERNAL_ERROR: { status: 500, title: 'A defect on our side', retry: 'same-key' },
  INVALID_STATE: { status: 409, title: 'Not possible in the present state', retry: 'no' },
  INVITATION_CLAIMED: { status: 409, title: 'Another fan has claimed this invitation', retry: 'later' },
  INVITATION_EXPIRED: { status: 410, title: 'The invitation is over', retry: 'no' },
  LOCK_TIMEOUT: { status: 503, title: 'Too much contention, try again', retry: 'same-key', retryAfterSeconds: 2 },
  MOVE_REFUSED: { status: 409, title: 'A rule of the quota refuses this move', retry: 'no' },
  NOT_FOUND: { status: 404, title: 'Not found', retry: 'no' },
  ORIGIN_NOT_ALLOWED: { status: 403, title: 'This origin may not connect', retry: 'no' },
  OUTCOME_UNKNOWN: {
    status: 503,
    title: 'The outcome is unknown, resend with the same key',
    retry: 'same-key',
    retryAfterSeconds: 2,
  },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The body is too large', retry: 'no' },
  PAYMENT_REFUSED: { status: 402, title: 'The payment provider refuses this payment', retry: 'no' },
  PURCHASE_WINDOW_EXPIRED: { status: 403, title: 'The purchase window is over', retry: 'no' },
  PURCHASE_WINDOW_REQUIRED: { status: 403, title: 'An open purchase window is needed', retry: 'no' },
  QUEUE_CLOSED: { status: 409, title: 'The waiting room is closed', retry: 'no' },
  QUOTA_EXCEEDED: { status: 409, title: 'Too few places are free', retry: 'later' },
  RATE_LIMITED: { status: 429, title: 'Too many requests', retry: 'later' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request came too slowly', retry: 'same-key' },
  RESERVATION_EXPIRED: { status: 409, title: 'The reservation has expired', retry: 'no' },
  SALE_NOT_OPEN: { status: 409, title: 'The sale is not open', retry: 'later' },
  SEATS_BUSY: { status: 409, title: 'Somebody is taking these seats right now', retry: 'same-key', retryAfterSeconds: 1 },
  SEATS_UNAVAILABLE: { status: 409, title: 'These seats are not available', retry: 'no' },
  SHUTTING_DOWN: { status: 503, title: 'This server is shutting down', retry: 'same-key', retryAfterSeconds: 1 },
  SOLD_OUT: { status: 409, title: 'Sold out', retry: 'no' },
  TICKET_LIMIT_REACHED: { status: 409, title: 'The ticket limit per fan is reached', retry: 'no' },
  TRANSFERS_LOCKED: { status: 409, title: 'Tickets of this match cannot change hands', retry: 'no' },
  UNAUTHENTICATED: { status: 401, title: 'Who are you?', retry: 'no' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'Only application/json is read here', retry: 'no' },
  URI_TOO_LONG: { status: 414, title: 'A part of the path is too long', retry: 'no' },
  VALIDATION_FAILED: { status: 400, title: 'The request is malformed', retry: 'no' },
} as const satisfies Record<ErrorCode, ErrorRow>;

/** Returns the row of a code in the catalogue. */
export function rowOf(code: ErrorCode): ErrorRow {
  return errorCatalogue[code];
}

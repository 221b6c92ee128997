import type { ErrorCode } from '#contracts/error-catalogue';
import type { ProblemMembers } from '#contracts/problems';

/**
 * The error codes of CONTRACT §3 that a fan or an operator can receive. TypeScript reports a code that has no text in some
 * language.
 */
export const problemCodes = [
  'VALIDATION_FAILED',
  'IDEMPOTENCY_KEY_REQUIRED',
  'IDEMPOTENCY_KEY_INVALID',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'BLACKLISTED',
  'PURCHASE_WINDOW_REQUIRED',
  'PURCHASE_WINDOW_EXPIRED',
  'NOT_FOUND',
  'IDEMPOTENCY_KEY_IN_USE',
  'SEATS_UNAVAILABLE',
  'SEATS_BUSY',
  'ALL_SEATS_HELD',
  'SOLD_OUT',
  'TICKET_LIMIT_REACHED',
  'PAYMENT_REFUSED',
  'RESERVATION_EXPIRED',
  'SALE_NOT_OPEN',
  'QUEUE_CLOSED',
  'INVALID_STATE',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'IDEMPOTENCY_KEY_REUSED',
  'RATE_LIMITED',
  'LOCK_TIMEOUT',
  'OUTCOME_UNKNOWN',
  'DEPENDENCY_UNAVAILABLE',
  // Codes of the page itself. UNREACHABLE: no answer arrived. UNKNOWN: the answer is not problem+json (for example a proxy's
  // error page).
  'UNREACHABLE',
  'UNKNOWN',
] as const satisfies readonly (ErrorCode | 'UNREACHABLE' | 'UNKNOWN')[];

export type ProblemCode = (typeof problemCodes)[number];

/** A failed API call, with the code, the status and the members of the problem+json answer. */
export class Problem extends Error {
  constructor(
    readonly code: ProblemCode,
    readonly status: number,
    readonly members: ProblemMembers = {},
    readonly retryAfterSeconds?: number,
    readonly requestId?: string,
  ) {
    super(code);
  }
}

/** Reads an error answer (problem+json) as a Problem. */
export async function readProblem(response: Response): Promise<Problem> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(retryAfter) ? retryAfter : undefined;
  const requestId = response.headers.get('x-request-id') ?? undefined;
  try {
    const body = (await response.json()) as ProblemMembers & { code?: unknown; request_id?: string };
    const code = problemCodes.find((known) => known === body.code) ?? 'UNKNOWN';
    return new Problem(code, response.status, body, retryAfterSeconds, body.request_id ?? requestId);
  } catch {
    return new Problem('UNKNOWN', response.status, {}, retryAfterSeconds, requestId);
  }
}

/**
 * Turns a caught value into a Problem. A bug in the page becomes a Problem with the code UNKNOWN and is written to the console.
 */
export function toProblem(caught: unknown): Problem {
  if (caught instanceof Problem) return caught;
  reportError(caught);
  return new Problem('UNKNOWN', 0);
}

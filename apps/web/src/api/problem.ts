/** Codes of CONTRACT §3 that a fan or an operator can meet. Each has a text in every language, or the page does not compile. */
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
  // Ours: no answer at all, and an answer that is not problem+json (a proxy's page).
  'UNREACHABLE',
  'UNKNOWN',
] as const;

export type ProblemCode = (typeof problemCodes)[number];

/** Extra members the codes carry. */
export interface ProblemFacts {
  seat_ids?: string[];
  available?: number;
  next_expiry_at?: string;
  other_sectors?: boolean;
  limit?: number;
  rest?: number;
  sale_status?: string;
  opens_at?: string | null;
  reason?: string;
  order_id?: string;
  errors?: { path: string; message: string }[];
}

export class Problem extends Error {
  constructor(
    readonly code: ProblemCode,
    readonly status: number,
    readonly facts: ProblemFacts = {},
    readonly retryAfterSeconds?: number,
    readonly requestId?: string,
  ) {
    super(code);
  }
}

export async function readProblem(response: Response): Promise<Problem> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const wait = Number.isFinite(retryAfter) ? retryAfter : undefined;
  const requestId = response.headers.get('x-request-id') ?? undefined;
  try {
    const body = (await response.json()) as ProblemFacts & { code?: unknown; request_id?: string };
    const code = problemCodes.find((known) => known === body.code) ?? 'UNKNOWN';
    return new Problem(code, response.status, body, wait, body.request_id ?? requestId);
  } catch {
    return new Problem('UNKNOWN', response.status, {}, wait, requestId);
  }
}

/** What a caught value means to the page; a defect of ours shows up as UNKNOWN and in the console. */
export function asProblem(caught: unknown): Problem {
  if (caught instanceof Problem) return caught;
  reportError(caught);
  return new Problem('UNKNOWN', 0);
}

/**
 * The SQLSTATEs that mean something to us; the only place where they stand. TypeORM's errors are known by their names: every
 * service looks at errors here, and for the one without a database TypeORM's 296 modules would be 15 MB of memory for nothing.
 */
export const sqlstates = {
  uniqueViolation: '23505',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
  inFailedTransaction: '25P02',
  undefinedTable: '42P01',
} as const;

/**
 * Worth running the whole transaction again, and nothing else is. The mission names lock time-outs and deadlocks; under
 * SERIALIZABLE contention arrives as 40001 (16 of 16 loaded runs in research), so it belongs to them (ADR 0004).
 */
export const RETRYABLE_SQLSTATES: ReadonlySet<string> = new Set([
  sqlstates.lockNotAvailable,
  sqlstates.deadlockDetected,
  sqlstates.serializationFailure,
]);

/** Attempts of a SERIALIZABLE transaction, the first one included. */
export const MAX_ATTEMPTS = 6;

/** Pause after failed attempt 1 … 5: 50–150 ms, then doubling up to one second. The formula is part of the specification. */
export function backoffMs(attempt: number, random: () => number): number {
  return Math.min(1000, (0.5 + random()) * 50 * 2 ** attempt);
}

interface DriverError {
  readonly code?: string;
  readonly constraint?: string;
  readonly message?: string;
}

function driverErrorOf(error: unknown): DriverError {
  const isWrapped = error instanceof Error && error.name === 'QueryFailedError';
  return (isWrapped ? (error as { driverError?: DriverError }).driverError : (error as DriverError | null)) ?? {};
}

/** Five characters, or undefined when the error did not come from the server. */
export function sqlstateOf(error: unknown): string | undefined {
  const { code } = driverErrorOf(error);
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') ? code : undefined;
}

export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return sqlstateOf(error) === sqlstates.uniqueViolation && driverErrorOf(error).constraint === constraint;
}

/** What the driver says when its connection is gone, in its own words: it has no codes for these. */
const LOST_CONNECTION_TEXT =
  /connection (terminated|ended)|connection error and is not queryable|timeout exceeded when trying to connect/i;

/**
 * The connection is gone: a broken socket, or the server's own goodbye (57P0x shutting down, 08xxx, 25P03 idle for too
 * long, 53300 no connection left). TypeORM lets go of a connection that broke between two statements and then refuses the next one as "released".
 */
export function isConnectionLoss(error: unknown): boolean {
  if (error instanceof Error && error.name === 'QueryRunnerAlreadyReleasedError') return true;
  const state = sqlstateOf(error);
  if (state) return /^(57P0[1-5]|08...|25P0[34]|53300)$/.test(state);
  const { code, message } = driverErrorOf(error);
  return /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/.test(code ?? '') || LOST_CONNECTION_TEXT.test(message ?? '');
}

import { QueryFailedError } from 'typeorm';

/** The SQLSTATEs that mean something to us; the only place where they stand. */
export const sqlstates = {
  uniqueViolation: '23505',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
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

interface DriverError {
  readonly code?: string;
  readonly constraint?: string;
  readonly message?: string;
}

function driverErrorOf(error: unknown): DriverError {
  const inner = error instanceof QueryFailedError ? (error.driverError as DriverError | undefined) : (error as DriverError | null);
  return inner ?? {};
}

/** Five characters, or undefined when the error did not come from the server. */
export function sqlstateOf(error: unknown): string | undefined {
  const { code } = driverErrorOf(error);
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') ? code : undefined;
}

export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return sqlstateOf(error) === sqlstates.uniqueViolation && driverErrorOf(error).constraint === constraint;
}

/** The server went away: broken socket, or its own "I am shutting down / crashed" (57P0x, 08xxx). */
export function isConnectionLoss(error: unknown): boolean {
  const state = sqlstateOf(error);
  if (state) return /^(57P0[1-5]|08...)$/.test(state);
  const { code, message } = driverErrorOf(error);
  return /^(ECONN|EPIPE|ETIMEDOUT)/.test(code ?? '') || /connection (terminated|ended)|Client has encountered a connection error|not queryable/i.test(message ?? '');
}

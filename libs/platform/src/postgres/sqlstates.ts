/**
 * All SQLSTATEs that the code handles. TypeORM's errors are recognised by name instead of `instanceof`: the queue service uses
 * this file without a database, and importing TypeORM (296 modules) would cost it 15 MB of memory.
 */
export const sqlstates = {
  uniqueViolation: '23505',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
  inFailedTransaction: '25P02',
  undefinedTable: '42P01',
  insufficientPrivilege: '42501',
} as const;

/**
 * SQLSTATEs after which a whole transaction is run again; it is not run again after any other. The specification names lock
 * timeouts and deadlocks. Under SERIALIZABLE, contention shows up as 40001 (in 16 of 16 load tests), so 40001 is retried, too
 * (ADR 0004).
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
  const isWrapped = error instanceof Error && error.name === 'QueryFailedError';
  return (isWrapped ? (error as { driverError?: DriverError }).driverError : (error as DriverError | null)) ?? {};
}

/** Returns the SQLSTATE (five characters) of an error, or undefined when the error did not come from the server. */
export function sqlstateOf(error: unknown): string | undefined {
  const { code } = driverErrorOf(error);
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') ? code : undefined;
}

/** True when an insert violated this unique constraint. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return sqlstateOf(error) === sqlstates.uniqueViolation && driverErrorOf(error).constraint === constraint;
}

/** Matches error messages of the PostgreSQL driver about a lost connection. The driver has no codes for these errors. */
const LOST_CONNECTION_TEXT =
  /connection (terminated|ended)|connection error and is not queryable|timeout exceeded when trying to connect/i;

/**
 * True when the connection was lost or refused: a broken socket, or an error of the server that ends the connection (57P0x
 * shutdown, 08xxx connection error, 25P03 idle too long, 53300 no free connection). TypeORM releases a query runner whose
 * connection broke between two statements and then refuses the next statement as "released".
 */
export function isConnectionLoss(error: unknown): boolean {
  if (error instanceof Error && error.name === 'QueryRunnerAlreadyReleasedError') return true;
  const state = sqlstateOf(error);
  if (state) return /^(57P0[1-5]|08...|25P0[34]|53300)$/.test(state);
  const { code, message } = driverErrorOf(error);
  return /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/.test(code ?? '') || LOST_CONNECTION_TEXT.test(message ?? '');
}

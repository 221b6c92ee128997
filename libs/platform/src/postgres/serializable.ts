import { DomainError } from '#domain/shared/domain-error';
import { setTimeout as pause } from 'node:timers/promises';
import { inSpan, type SpanOptions } from '../tracing/spans.ts';
import { RETRYABLE_SQLSTATES, sqlstateOf } from './sqlstates.ts';

/** Maximum number of attempts of a SERIALIZABLE transaction, including the first. */
const MAX_ATTEMPTS = 6;
/** Minimum time until the deadline for starting an attempt. */
export const MIN_ATTEMPT_MS = 1000;

/**
 * Returns the pause after failed attempt 1 … 5: 50–150 ms, then doubling up to one second. The formula is part of the
 * specification.
 */
export function backoffMs(attempt: number, random: () => number): number {
  return Math.min(1000, (0.5 + random()) * 50 * 2 ** attempt);
}

/**
 * Thrown by an attempt that lost its connection and certainly had no effect; `cause` is the error of the driver. The attempt is
 * repeated without a pause.
 */
export class AttemptWithoutEffect extends Error {}

/** How the attempts of a transaction are repeated. */
export interface RetryOptions {
  /** Counts a retry, for example in the metric `transaction_retries_total`. */
  readonly onRetry: (sqlstate: string) => void;
  /** Unix time in milliseconds. No attempt starts less than a second before it. */
  readonly deadlineAt?: number;
  readonly random?: () => number;
  readonly sleep?: (ms: number) => Promise<void>;
  /** What the span of the transaction tells, for one that is not part of the current request. */
  readonly span?: () => SpanOptions;
}

const noSpanOptions = (): SpanOptions => ({});

/**
 * Runs a SERIALIZABLE transaction: up to six attempts, with a backoff between them, and only after contention (CONTRACT §8). When
 * contention lasts longer, or at the deadline, it throws LOCK_TIMEOUT. Any other error ends it at once. Each attempt must be the whole
 * transaction, because a failed one has been rolled back.
 */
export function retrySerializable<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  return inSpan('transaction', options.span ?? noSpanOptions, () => runAttempts(attempt, options));
}

async function runAttempts<T>(
  attempt: () => Promise<T>,
  { onRetry, deadlineAt = Infinity, random = Math.random, sleep = pause }: RetryOptions,
): Promise<T> {
  for (let number = 1; number <= MAX_ATTEMPTS && deadlineAt - Date.now() >= MIN_ATTEMPT_MS; number += 1) {
    try {
      return await attempt();
    } catch (error) {
      const hasNoEffect = error instanceof AttemptWithoutEffect;
      if (hasNoEffect && number === MAX_ATTEMPTS) throw error.cause;
      if (hasNoEffect) continue;
      const sqlstate = sqlstateOf(error) ?? '';
      if (!RETRYABLE_SQLSTATES.has(sqlstate)) throw error;
      if (number === MAX_ATTEMPTS) break;
      onRetry(sqlstate);
      await sleep(backoffMs(number, random));
    }
  }
  throw lockTimeout();
}

/** The error after too much contention, or at the deadline. */
export function lockTimeout(): DomainError {
  return new DomainError('LOCK_TIMEOUT', 'Too many concurrent requests for the same data. Nothing was changed; try again.');
}

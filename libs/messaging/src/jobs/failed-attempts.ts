import { DelayedError, WaitingError } from 'bullmq';

/**
 * Maximum length of a stored stack trace. Its beginning shows where the error was thrown; the frames of the frameworks come later
 * and are cut off.
 */
const MAX_STACK_CHARACTERS = 2000;
const WITH_TIME = /^\[(\d{4}-\d\d-\d\dT[\d:.]+Z)\] ([\s\S]*)$/;

/** One failed attempt of a job, as operators see it. */
export interface FailedAttempt {
  /** When the attempt failed. Null when the time is unknown, because the worker died. */
  readonly at: string | null;
  readonly error: string;
  readonly stack: string;
}

/**
 * Adds the current time to the stack trace of an error that `work` throws. BullMQ stores the stack trace of each failed attempt,
 * but not its time.
 */
export async function withFailureTime<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    // Jobs that share a transaction throw the same error object, so its stack trace may have a time already.
    const hasTime = error instanceof Error && WITH_TIME.test(error.stack ?? '');
    if (error instanceof Error && !hasTime && !(error instanceof WaitingError || error instanceof DelayedError)) {
      error.stack = `[${new Date().toISOString()}] ${shortened(error.stack ?? error.message)}`;
    }
    throw error;
  }
}

/** Returns the failed attempts that BullMQ stored with a job, newest first. */
export function failedAttempts(stacktrace: readonly string[] | null, failedReason: string | undefined): FailedAttempt[] {
  const attempts = (stacktrace ?? []).map((stored): FailedAttempt => {
    const [, at = null, stack = stored] = WITH_TIME.exec(stored) ?? [];
    return { at, error: firstLine(stack), stack };
  });
  // A worker that died stored no stack trace. In this case only `failedReason` says why the job failed.
  const last = attempts.at(-1);
  if (failedReason && !last?.error.includes(firstLine(failedReason))) attempts.push({ at: null, error: failedReason, stack: '' });
  return attempts.reverse();
}

/** Describes an error as a failed attempt. */
export function describeFailure(error: unknown, at: Date): FailedAttempt {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { at: at.toISOString(), error: error instanceof Error ? error.message : String(error), stack: shortened(stack) };
}

function shortened(stack: string): string {
  // PostgreSQL's text type cannot hold NUL, and an error may contain any character.
  return stack.replaceAll('\0', '').slice(0, MAX_STACK_CHARACTERS);
}

function firstLine(stack: string): string {
  return stack.split('\n', 1)[0]?.replace(/^\w*Error: /, '') ?? '';
}

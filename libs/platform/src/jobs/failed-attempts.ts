import { DelayedError, WaitingError } from 'bullmq';

/** Of a stack, so much tells where it was thrown; sixteen frames of a framework tell nothing more. */
const STACK_CHARACTERS = 2000;
const STAMPED = /^\[(\d{4}-\d\d-\d\dT[\d:.]+Z)\] ([\s\S]*)$/;

export interface FailedAttempt {
  /** Null where nobody wrote it down: the worker died. */
  readonly at: string | null;
  readonly error: string;
  readonly stack: string;
}

/** BullMQ keeps the stack of every failed attempt with the job, but not when it was: that is written into the stack. */
export async function stampedFailure<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    // Jobs that shared a transaction share its error: it is stamped once.
    const isStamped = error instanceof Error && STAMPED.test(error.stack ?? '');
    if (error instanceof Error && !isStamped && !(error instanceof WaitingError || error instanceof DelayedError)) {
      error.stack = `[${new Date().toISOString()}] ${shortened(error.stack ?? error.message)}`;
    }
    throw error;
  }
}

/** What is kept with a job, newest first. */
export function failedAttempts(stacktrace: readonly string[] | null, failedReason: string | undefined): FailedAttempt[] {
  const attempts = (stacktrace ?? []).map((kept): FailedAttempt => {
    const [, at = null, stack = kept] = STAMPED.exec(kept) ?? [];
    return { at, error: firstLine(stack), stack };
  });
  // A worker that died left no stack; the transport says why it gave up.
  const last = attempts.at(-1);
  if (failedReason && !last?.error.includes(firstLine(failedReason))) attempts.push({ at: null, error: failedReason, stack: '' });
  return attempts.reverse();
}

export function describeFailure(error: unknown, at: Date): FailedAttempt {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { at: at.toISOString(), error: error instanceof Error ? error.message : String(error), stack: shortened(stack) };
}

function shortened(stack: string): string {
  // PostgreSQL's text cannot hold a NUL, and an error may quote anything.
  return stack.replaceAll('\0', '').slice(0, STACK_CHARACTERS);
}

function firstLine(stack: string): string {
  return stack.split('\n', 1)[0]?.replace(/^\w*Error: /, '') ?? '';
}

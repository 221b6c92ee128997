/**
 * A handler throws this when the job must wait and the job is not at fault: it goes back to its queue and loses no attempt.
 * Scope `queue`: other jobs of the queue would fail for the same reason, so the whole queue pauses for `forMs`. Scope `job`:
 * only this job waits, for example because another worker has it.
 */
export class HeldBack extends Error {
  constructor(
    readonly scope: 'queue' | 'job',
    readonly forMs: number,
    reason: string,
  ) {
    super(reason);
  }
}

/** A handler throws this when a retry cannot succeed: the job becomes a dead letter at once. */
export class PermanentFailure extends Error {}

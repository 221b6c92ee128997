/**
 * A job handler throws this error when the job must wait for a reason outside the job. The job goes back to its queue and loses
 * no attempt.
 * - Scope `queue`: other jobs of the queue would fail for the same reason, so the whole queue pauses for `forMs`.
 * - Scope `job`: only this job waits, for example because another worker is doing it.
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

/** A job handler throws this error when a retry cannot succeed: the job becomes a dead letter at once. */
export class PermanentFailure extends Error {}

import type { Transaction } from './transaction-manager.ts';

/**
 * A background job as plain data. `class` is the kind of work; the other fields are its parameters. Prefer ids as parameters: the
 * handler then reads the current state when it runs.
 */
export interface BackgroundJob {
  readonly class: string;
}

/** Creates background jobs in a transaction. A job is done once if the transaction commits, and never if it rolls back. */
export abstract class Jobs {
  abstract put<Job extends BackgroundJob>(
    tx: Transaction,
    jobs: readonly Job[],
    when?: { readonly afterSeconds: number },
  ): Promise<void>;
}

/**
 * Handles one class of jobs.
 * - `prepare` runs first, outside of any transaction. It may read, and call other systems. It runs at least once. A repeated run
 *   has the same job id, by which the other system can recognise the repetition.
 * - `work` runs in a transaction that also marks the job as done, so its effect happens exactly once.
 *
 * If `prepare` or `work` throws, the job is retried after 1, 5 and 30 seconds, and then set aside for operators.
 */
export abstract class JobHandler<Job extends BackgroundJob = BackgroundJob, Prepared = unknown> {
  abstract readonly class: Job['class'];
  abstract prepare(job: Job, jobId: string): Promise<Prepared>;
  abstract work(tx: Transaction, job: Job, prepared: Prepared): Promise<void>;
}

import type { Transaction } from './transaction-manager.ts';

/**
 * Work for later, as plain data of the domain: what is to be done (`class`) and about what. Ids are the best contents: whoever
 * does it looks up how things are by then.
 */
export interface BackgroundJob {
  readonly class: string;
}

/** Jobs put here are done once if, and only if, the transaction commits. */
export abstract class Jobs {
  abstract put<Job extends BackgroundJob>(
    tx: Transaction,
    jobs: readonly Job[],
    when?: { readonly afterSeconds: number },
  ): Promise<void>;
}

/**
 * Does one class of jobs. `work` commits together with the mark that the job is done: once, whatever crashes. What cannot be
 * taken back (a call to another system), and what only reads, is done in `prepare`, before and outside of any transaction: at least once, with the
 * job's id to recognise a repetition by. Throwing means: again after 1, 5 and 30 seconds, then people decide.
 */
export abstract class JobHandler<Job extends BackgroundJob = BackgroundJob, Prepared = unknown> {
  abstract readonly class: Job['class'];
  abstract prepare(job: Job, jobId: string): Promise<Prepared>;
  abstract work(tx: Transaction, job: Job, prepared: Prepared): Promise<void>;
}

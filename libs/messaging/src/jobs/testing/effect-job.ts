import { JobHandler, type BackgroundJob } from '#application/jobs';
import type { Transaction } from '#application/transaction-manager';
import { z } from 'zod';
import { inside } from '#platform/postgres/transaction';
import type { JobKind } from '../job-runner.ts';

/** A job for tests: its effect is one row with this name. */
export interface EffectJob extends BackgroundJob {
  readonly class: 'effect';
  readonly name: string;
}

/** Makes a test job whose effect is one row with this name. */
export const effect = (name: string): EffectJob => ({ class: 'effect', name });

/**
 * Handler of the test job. A test can run its own code in the transaction after the insert (`afterInsert`) and in `prepare`
 * (`onPrepare`).
 */
export class WriteEffect extends JobHandler<EffectJob> {
  readonly class = 'effect';

  constructor(
    private readonly afterInsert: (job: EffectJob) => Promise<void> | void = () => undefined,
    private readonly onPrepare: (job: EffectJob, jobId: string) => Promise<void> | void = () => undefined,
  ) {
    super();
  }

  async prepare(job: EffectJob, jobId: string): Promise<void> {
    await this.onPrepare(job, jobId);
  }

  async work(tx: Transaction, job: EffectJob): Promise<void> {
    await inside(tx).rows('insert into effects (name) values ($1)', [job.name]);
    await this.afterInsert(job);
  }
}

/** The test job as a kind of jobs for a JobRunner. */
export function effectKind(handler: WriteEffect): JobKind {
  return { schema: z.object({ class: z.literal('effect'), name: z.string() }), handler };
}

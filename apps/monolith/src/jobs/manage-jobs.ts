import { recordChange } from '#application/recorded-change';
import { TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { AllQueues } from './all-queues.ts';
import type { JobFilter, JobView } from './jobs.api.ts';

/** Operators retry failed jobs, which get all their attempts again, or drop a waiting or failed one. Each action is recorded. */
export class ManageJobs {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly queues: AllQueues,
  ) {}

  async retry({ id, by }: { id: string; by: string }): Promise<JobView> {
    const job = await this.find(id);
    if (job.state !== 'failed') throw invalid(job, 'Only a failed job can be retried');
    return this.transactions.run(async (tx) => {
      if ((await this.queues.retry(tx, [job], by)) === 0) throw invalid(job, 'Another operator has just retried this job');
      recordChange(tx, { before: factsOf(job), after: { ...factsOf(job), state: 'waiting' } });
      return { ...job, state: 'waiting' };
    });
  }

  /** Retries all failed jobs that match the filter, in one transaction. Returns how many. A dry run only counts them. */
  async retryAll(command: { filter: Omit<JobFilter, 'state' | 'after'>; dryRun: boolean; by: string }): Promise<number> {
    const jobs = await this.queues.list.failed(command.filter);
    if (command.dryRun) return jobs.length;
    return this.transactions.run(async (tx) => {
      const retried = await this.queues.retry(tx, jobs, command.by);
      recordChange(tx, { before: null, after: { ...command.filter, retried } });
      return retried;
    });
  }

  async drop({ id, by }: { id: string; by: string }): Promise<JobView> {
    const job = await this.find(id);
    if (job.state === 'active' || job.state === 'completed') throw invalid(job, 'Only a waiting or failed job can be dropped');
    const removeFromQueue = await this.transactions.run(async (tx) => {
      const remove = await this.queues.drop(tx, job, by);
      if (!remove) throw invalid(job, 'The job has just been started or finished');
      recordChange(tx, { before: factsOf(job), after: null });
      return remove;
    });
    if (!(await removeFromQueue())) throw invalid(job, 'The job has just been started or finished');
    return job;
  }

  private async find(id: string): Promise<JobView> {
    const job = await this.queues.list.find(id);
    if (!job) throw new DomainError('NOT_FOUND', 'There is no such job.');
    return job;
  }
}

/** What the audit log says about a job. Its payload has personal data. */
const factsOf = ({ queue, template, state }: JobView) => ({ queue, template, state });

function invalid(job: JobView, why: string): DomainError {
  return new DomainError('INVALID_STATE', `${why}; this one is ${job.state}.`);
}

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
      return { ...job, state: 'waiting' };
    });
  }

  /** Retries all failed jobs that match the filter, in one transaction. Returns how many. A dry run only counts them. */
  async retryAll(command: { filter: Omit<JobFilter, 'state' | 'after'>; dryRun: boolean; by: string }): Promise<number> {
    const jobs = await this.queues.list.failed(command.filter);
    if (command.dryRun) return jobs.length;
    return this.transactions.run((tx) => this.queues.retry(tx, jobs, command.by));
  }

  async drop({ id, by }: { id: string; by: string }): Promise<JobView> {
    const job = await this.find(id);
    if (job.state === 'active' || job.state === 'completed') throw invalid(job, 'Only a waiting or failed job can be dropped');
    const removeFromQueue = await this.transactions.run((tx) => this.queues.drop(tx, job, by));
    if (!removeFromQueue || !(await removeFromQueue())) throw invalid(job, 'The job has just been started or finished');
    return job;
  }

  private async find(id: string): Promise<JobView> {
    const job = await this.queues.list.find(id);
    if (!job) throw new DomainError('NOT_FOUND', 'There is no such job.');
    return job;
  }
}

function invalid(job: JobView, why: string): DomainError {
  return new DomainError('INVALID_STATE', `${why}; this one is ${job.state}.`);
}

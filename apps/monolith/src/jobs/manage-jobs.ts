import type { TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { AllQueues } from './all-queues.ts';
import type { JobView } from './jobs.api.ts';

/** Operators retry a failed job, which gets all its attempts again, or drop a waiting or failed one. Each action is recorded. */
export class ManageJobs {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly queues: AllQueues,
  ) {}

  async retry({ id, by }: { id: string; by: string }): Promise<JobView> {
    const job = await this.find(id);
    if (job.state !== 'failed') throw invalid(job, 'Only a failed job can be retried');
    return this.transactions.run(async (tx) => {
      if (!(await this.queues.retry(tx, job, by))) throw invalid(job, 'Another operator has just retried this job');
      return { ...job, state: 'waiting' };
    });
  }

  async drop({ id, by }: { id: string; by: string }): Promise<JobView> {
    const job = await this.find(id);
    if (job.state === 'active' || job.state === 'completed') throw invalid(job, 'Only a waiting or failed job can be dropped');
    const removeFromQueue = await this.transactions.run((tx) => this.queues.drop(tx, job, by));
    if (!removeFromQueue) throw invalid(job, 'The job has just been started or finished');
    await removeFromQueue();
    return job;
  }

  private async find(id: string): Promise<JobView> {
    const job = await this.queues.find(id);
    if (!job) throw new DomainError('NOT_FOUND', 'There is no such job.');
    return job;
  }
}

function invalid(job: JobView, why: string): DomainError {
  return new DomainError('INVALID_STATE', `${why}; this one is ${job.state}.`);
}

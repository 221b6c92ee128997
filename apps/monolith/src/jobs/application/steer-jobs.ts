import type { TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { JobView } from '../jobs.api.ts';
import type { AllQueues } from './ports.ts';

/** What people do with a job that failed for good: have it tried again from the beginning, or give it up. Who did is written down. */
export class SteerJobs {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly queues: AllQueues,
  ) {}

  async retry({ id, by }: { id: string; by: string }): Promise<JobView> {
    const job = await this.find(id);
    if (job.state !== 'failed') throw invalid(job, 'Only a job that failed for good is tried again');
    return this.transactions.run(async (tx) => {
      if (!(await this.queues.retry(tx, job, by))) throw invalid(job, 'Somebody else has just had it tried again');
      return { ...job, state: 'waiting' };
    });
  }

  async drop({ id, by }: { id: string; by: string }): Promise<JobView> {
    const job = await this.find(id);
    if (job.state === 'active' || job.state === 'completed') throw invalid(job, 'Only a job that waits or failed can be dropped');
    const afterwards = await this.transactions.run((tx) => this.queues.drop(tx, job, by));
    if (!afterwards) throw invalid(job, 'It is being done or was done in this moment');
    await afterwards();
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

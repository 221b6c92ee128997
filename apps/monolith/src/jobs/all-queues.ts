import { Ids } from '#application/ids';
import { Outbox } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { JobQueue } from '#contracts/queue-jobs';
import { JobInterventions, JobLedger, JobRetries, type JobsMessage } from '#messaging/jobs/job-ledger';
import type { JobTransport } from '#messaging/jobs/job-transport';
import { NotificationQueues } from '#messaging/jobs/notification-queues';
import { deleteJobCopy } from '#messaging/jobs/queued-jobs';
import { ParkedMessages } from '#messaging/outbox/parked-messages';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { JOB_TRANSPORT } from '../tokens.ts';
import { JobList } from './job-list.ts';
import type { JobCounts, JobView } from './jobs.api.ts';

type JobName = Pick<JobView, 'id' | 'queue' | 'template'>;

/** Counts, retries and drops jobs of all queues. `list` has them as one list. */
@Injectable()
export class AllQueues {
  readonly list: JobList;
  private readonly parked: ParkedMessages;
  private readonly interventions: JobInterventions;
  private readonly retries: JobRetries;

  constructor(
    dataSource: DataSource,
    private readonly notifications: NotificationQueues,
    private readonly ledger: JobLedger,
    @Inject(JOB_TRANSPORT) private readonly transport: JobTransport,
    outbox: Outbox,
    ids: Ids,
  ) {
    this.parked = new ParkedMessages(dataSource);
    this.interventions = new JobInterventions(dataSource);
    this.retries = new JobRetries(dataSource, outbox, ids);
    const { parked, interventions, retries } = this;
    this.list = new JobList({ notifications, ledger, transport, parked, interventions, retries });
  }

  async counts(): Promise<readonly JobCounts[]> {
    const [counts, general, transported, messages] = await Promise.all([
      this.notifications.counts(),
      this.ledger.counts(),
      this.transport.counts(),
      this.parked.counts(),
    ]);
    const notifications = [...counts].map(async ([queue, states]): Promise<JobCounts> => {
      const oldest = await this.notifications.oldestWaiting(queue);
      return { queue, ...states, oldestWaitingSeconds: oldest ? Math.round((Date.now() - oldest.getTime()) / 1000) : 0 };
    });
    const { delayed, active } = transported;
    const waiting = Math.max(0, general.open - delayed - active);
    const { done: completed, failed, oldestSeconds } = general;
    const jobs: JobCounts = { queue: 'jobs', waiting, delayed, active, completed, failed, oldestWaitingSeconds: oldestSeconds };
    const { parked, oldestSeconds: oldestWaitingSeconds, ...unsent } = messages;
    const outbox: JobCounts = { queue: 'outbox', active: 0, completed: 0, failed: parked, oldestWaitingSeconds, ...unsent };
    return [...(await Promise.all(notifications)), jobs, outbox];
  }

  /**
   * Retries failed jobs and records the operator with each. The retries start only if the transaction commits. Returns how many
   * jobs it retries: jobs that are no longer failed or parked, or whose retry another operator has asked for, are left out.
   */
  async retry(tx: Transaction, jobs: readonly JobName[], by: string): Promise<number> {
    const idsIn = (wanted: string): string[] => jobs.filter(({ queue }) => queue === wanted).map(({ id }) => id);
    const notifications = jobs.filter(({ queue }) => queue !== 'jobs' && queue !== 'outbox');
    const [general, parked, pending] = await Promise.all([
      this.ledger.revive(tx, idsIn('jobs')),
      this.parked.retry(tx, idsIn('outbox')),
      notifications.length > 0 ? this.retries.pending(tx) : new Set<string>(),
    ]);
    const unretried = notifications.filter(({ queue, id }) => !pending.has(`${queue} ${id}`));
    const retried = [
      ...general.map(({ id }) => ({ queue: 'jobs', id })),
      ...parked.map((id) => ({ queue: 'outbox', id })),
      ...unretried,
    ];
    if (retried.length === 0) return 0;
    await this.interventions.note(tx, retried, { action: 'retry', by });
    await this.retries.append(tx, [
      ...general.map((job): JobsMessage => ({ job_id: job.id, class: job.class, again: true })),
      ...unretried.map(({ id, queue }): JobsMessage => ({ job_id: id, queue, again: true })),
    ]);
    return retried.length;
  }

  /**
   * Deletes, in the transaction, what PostgreSQL has stored about the job. Returns a function that removes the job from its
   * queue: call it after the commit. It resolves to false if a worker has just begun the job. Returns undefined if the job is no
   * longer waiting or failed.
   */
  async drop(tx: Transaction, { id, queue }: JobName, by: string): Promise<(() => Promise<boolean>) | undefined> {
    if (queue === 'jobs' && !(await this.ledger.drop(tx, id))) return undefined;
    if (queue === 'outbox' && !(await this.parked.drop(tx, id))) return undefined;
    if (queue !== 'jobs' && queue !== 'outbox') {
      await deleteJobCopy(tx, id);
      await this.retries.append(tx, [{ job_id: id, queue, dropped: true }]);
    }
    await this.interventions.note(tx, [{ queue, id }], { action: 'drop', by });
    if (queue === 'outbox') return () => Promise.resolve(true);
    return queue === 'jobs' ? () => this.dropGeneral(id) : () => this.notifications.drop(queue satisfies JobQueue, id);
  }

  /** Without its row a general job has no effect, so it does not matter if the transport still has it, or a worker. */
  private async dropGeneral(id: string): Promise<boolean> {
    await this.transport.remove([id]).catch(() => undefined);
    return true;
  }
}

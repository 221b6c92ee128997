import type { JobState } from '#contracts/jobs';
import { Ids } from '#application/ids';
import { Outbox } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { JobQueue } from '#contracts/queue-jobs';
import { JOBS_DESTINATION, JobInterventions, JobLedger, type JobRow, type JobsMessage } from '#messaging/jobs/job-ledger';
import type { JobTransport } from '#messaging/jobs/job-transport';
import { NotificationQueues } from '#messaging/jobs/notification-queues';
import { deleteJobCopy } from '#messaging/jobs/queued-jobs';
import { ParkedMessages, type OutboxMessageView } from '#messaging/outbox/parked-messages';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { JOB_TRANSPORT } from '../tokens.ts';
import type { JobCounts, JobFilter, JobView } from './jobs.api.ts';

/**
 * A search by template, or by a state that only the queue itself knows (waiting, delayed, active), filters in memory. Such a
 * search reads at most this many general jobs.
 */
const MAX_FILTERED_JOBS = 1000;

type Found = Omit<JobView, 'interventions'>;

/**
 * The jobs of all queues as one list: mails and pushes in the notification queues in Redis, the general jobs (all other background
 * jobs) recorded in PostgreSQL, and the parked outbox messages.
 */
@Injectable()
export class AllQueues {
  private readonly parked: ParkedMessages;
  private readonly interventions: JobInterventions;

  constructor(
    dataSource: DataSource,
    private readonly notifications: NotificationQueues,
    private readonly ledger: JobLedger,
    @Inject(JOB_TRANSPORT) private readonly transport: JobTransport,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
  ) {
    this.parked = new ParkedMessages(dataSource);
    this.interventions = new JobInterventions(dataSource);
  }

  /** The jobs that match the filter, newest first, at most `filter.limit`. */
  async list(filter: JobFilter): Promise<readonly JobView[]> {
    const { queue, state, text, before, template, limit } = filter;
    const isParked = (queue === undefined || queue === 'outbox') && (state === undefined || state === 'failed');
    const [general, notifications, parked] = await Promise.all([
      queue === undefined || queue === 'jobs' ? this.general(filter) : [],
      queue === 'jobs' || queue === 'outbox' ? [] : this.notifications.list({ queue, state, text }),
      isParked ? this.parked.list({ text, event: template, before, limit }) : [],
    ]);
    // Ids are UUIDs of version 7, so sorting by id sorts by creation time.
    const found = [
      ...general,
      ...notifications.map((job): Found => ({ ...job, transport: 'redis' })),
      ...parked.map(messageAsJob),
    ]
      .filter((job) => (before === undefined || job.id < before) && (template === undefined || job.template === template))
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, limit);
    return this.withInterventions(found);
  }

  async find(id: string): Promise<JobView | undefined> {
    const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
    const row = isUuid ? await this.ledger.find(id) : undefined;
    if (row) return (await this.withInterventions(await this.viewed([row])))[0];
    const message = isUuid ? await this.parked.find(id) : undefined;
    if (message) return (await this.withInterventions([messageAsJob(message)]))[0];
    const job = await this.notifications.find(id);
    return job ? (await this.withInterventions([{ ...job, transport: 'redis' }]))[0] : undefined;
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
   * Retries a failed job. The retry starts only if the transaction commits. Returns false if the job is no longer failed or
   * parked.
   */
  async retry(tx: Transaction, { id, queue, template }: JobView, by: string): Promise<boolean> {
    const isGeneral = queue === 'jobs';
    if (isGeneral && !(await this.ledger.revive(tx, id))) return false;
    if (queue === 'outbox' && !(await this.parked.retry(tx, id))) return false;
    await this.interventions.note(tx, { queue, jobId: id, action: 'retry', by });
    if (queue === 'outbox') return true;
    const body: JobsMessage = isGeneral ? { job_id: id, class: template, again: true } : { job_id: id, queue, again: true };
    await this.outbox.append(tx, [{ id: this.ids.next(), destination: JOBS_DESTINATION, event: 'job.retry', body }]);
    return true;
  }

  /**
   * Deletes, in the transaction, what PostgreSQL has stored about the job. Returns a function that removes the job from its
   * queue: call it after the commit. Returns undefined if the job is no longer waiting or failed.
   */
  async drop(tx: Transaction, { id, queue }: JobView, by: string): Promise<(() => Promise<void>) | undefined> {
    if (queue === 'jobs' && !(await this.ledger.drop(tx, id))) return undefined;
    if (queue === 'outbox' && !(await this.parked.drop(tx, id))) return undefined;
    if (queue !== 'jobs' && queue !== 'outbox') await deleteJobCopy(tx, id);
    await this.interventions.note(tx, { queue, jobId: id, action: 'drop', by });
    if (queue === 'outbox') return () => Promise.resolve();
    return queue === 'jobs' ? () => this.transport.remove([id]) : () => this.dropNotification(queue, id);
  }

  private async dropNotification(queue: JobQueue, id: string): Promise<void> {
    if (!(await this.notifications.drop(queue, id))) throw new Error(`job ${id} is being processed or no longer exists`);
  }

  private async general({ state, text, before, template, limit }: JobFilter): Promise<Found[]> {
    const isOpen = state === 'waiting' || state === 'delayed' || state === 'active';
    const rows = await this.ledger.list({
      state: isOpen ? 'open' : state === 'completed' ? 'done' : (state ?? 'any'),
      text,
      before,
      limit: isOpen || template ? MAX_FILTERED_JOBS : limit,
    });
    return (await this.viewed(rows)).filter((job) => state === undefined || job.state === state);
  }

  private async viewed(rows: readonly JobRow[]): Promise<Found[]> {
    const open = rows.filter(({ doneAt, failedAt }) => !doneAt && !failedAt).map(({ id }) => id);
    const states = open.length > 0 ? await this.transport.states(open) : new Map<string, JobState>();
    return rows.map((row): Found => ({
      id: row.id,
      queue: 'jobs',
      template: row.class,
      // The transport (BullMQ in Redis or PostgreSQL) may not know an open job: it was not queued yet, or the transport lost its
      // data. Such a job counts as waiting, because it will be queued.
      state: row.doneAt ? 'completed' : row.failedAt ? 'failed' : openState(states.get(row.id)),
      attempts: row.attempts.toReversed(),
      createdAt: row.createdAt,
      transport: row.transport ?? this.transport.name,
      payload: row.message,
    }));
  }

  private async withInterventions(jobs: readonly Found[]): Promise<JobView[]> {
    const all = jobs.length > 0 ? await this.interventions.of(jobs.map(({ id }) => id)) : [];
    return jobs.map((job) => ({
      ...job,
      interventions: all.filter(({ jobId, queue }) => jobId === job.id && queue === job.queue),
    }));
  }
}

function messageAsJob(message: OutboxMessageView): Found {
  const { id, event, destination, aggregateId, attempts, body, parkedAt, isDue } = message;
  return {
    id,
    queue: 'outbox',
    template: event,
    state: parkedAt ? 'failed' : isDue ? 'waiting' : 'delayed',
    attempts: message.failures.map(({ at, error }) => ({ at: new Date(at).toISOString(), error, stack: '' })).toReversed(),
    createdAt: message.createdAt,
    transport: 'postgres',
    payload: { destination, aggregate_id: aggregateId, attempts, body },
  };
}

function openState(state: JobState | undefined): JobState {
  return state === 'delayed' || state === 'active' ? state : 'waiting';
}

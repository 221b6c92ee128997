import { Jobs, type BackgroundJob } from '#application/jobs';
import type { Ids } from '#application/ids';
import type { Outbox, OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { DataSource } from 'typeorm';
import { runUnprepared } from '#platform/postgres/database';
import { runReadCommitted } from '#platform/postgres/read-committed';
import { inside } from '#platform/postgres/transaction';
import { currentOrigin } from '#platform/tracing/origin';
import type { FailedAttempt } from './failed-attempts.ts';
import { GENERAL_QUEUE, type TransportName } from './job-transport.ts';
import {
  COUNT_JOBS,
  FIND_JOB,
  FINISH_JOB,
  LIST_JOBS,
  NOTE_ATTEMPT,
  OPEN_JOBS,
  PURGE_JOBS,
  PUT_JOBS,
  REOPEN_JOBS,
  SET_JOB_ASIDE,
} from './jobs.sql.ts';

/**
 * Outbox destination of background jobs. Within milliseconds after the commit the relay delivers their ids, not the jobs, to
 * BullMQ.
 */
export const JOBS_DESTINATION = GENERAL_QUEUE;
/** The body of an outbox message with the destination JOBS_DESTINATION. `again`: an operator retries the job. */
export type JobsMessage =
  | { readonly job_id: string; readonly class: string; readonly again?: boolean }
  /** A job of a notification queue (mails, pushes) that an operator retries, or has dropped. */
  | { readonly job_id: string; readonly queue: string; readonly again: true }
  | { readonly job_id: string; readonly queue: string; readonly dropped: true };

/** How long done jobs, and jobs that failed for good, are kept. */
const DONE_RETENTION = '1 hour';
const FAILED_RETENTION = '30 days';
/** Maximum number of failed attempts that are stored with a job. A job has more only if operators retry it many times. */
const MAX_STORED_ATTEMPTS = 50;

/** A row of the table `jobs`: a background job with its state. It is open while `doneAt` and `failedAt` are null. */
export interface JobRow {
  readonly id: string;
  readonly class: string;
  readonly message: BackgroundJob;
  readonly createdAt: Date;
  readonly attempts: readonly FailedAttempt[];
  /** Where the job was queued when it failed for good; null for other jobs. */
  readonly transport: TransportName | null;
  readonly doneAt: Date | null;
  readonly failedAt: Date | null;
  /** The request that created the job; null if it was created without one, for example by a periodic task. */
  readonly requestId: string | null;
  readonly traceparent: string | null;
}

/** Writes jobs to the table `jobs` and their ids to the outbox, in the caller's transaction. */
export class PostgresJobs extends Jobs {
  constructor(
    private readonly outbox: Outbox,
    private readonly ids: Ids,
  ) {
    super();
  }

  async put(tx: Transaction, jobs: readonly BackgroundJob[], when?: { readonly afterSeconds: number }): Promise<void> {
    if (jobs.length === 0) return;
    const rows = jobs.map((message) => ({ id: this.ids.next(), class: message.class, message }));
    const { requestId = null, traceparent = null } = currentOrigin() ?? {};
    await inside(tx).rows(PUT_JOBS.with({ jobs: JSON.stringify(rows), requestId, traceparent }));
    const messages = rows.map((row) => ({ ...this.messageAbout(row, `job.${row.class}`), ...when }));
    await this.outbox.append(tx, messages);
  }

  /**
   * Starts failed jobs again, each with the full number of attempts; returns how many. Ignores jobs that are not failed any more.
   */
  async retry(tx: Transaction, ids: readonly string[]): Promise<number> {
    const rows = await inside(tx).rows<{ id: string; class: string }>(REOPEN_JOBS.with({ ids }));
    const messages = rows.map((row) => this.messageAbout(row, 'job.retry', true));
    await this.outbox.append(tx, messages);
    return rows.length;
  }

  private messageAbout(job: { readonly id: string; readonly class: string }, event: string, again?: true): OutboxMessage {
    const body: JobsMessage = { job_id: job.id, class: job.class, again };
    return { id: this.ids.next(), destination: JOBS_DESTINATION, event, body };
  }
}

/**
 * Reads and writes the table `jobs`, the source of truth about background jobs. BullMQ only transports them and may lose its
 * data.
 */
export class JobLedger {
  constructor(private readonly dataSource: DataSource) {}

  async find(id: string): Promise<JobRow | undefined> {
    const [row] = await runUnprepared<JobRow[]>(this.dataSource, FIND_JOB.with({ id }));
    return row;
  }

  /** Marks the job as done. False when it is already done, failed or deleted; then the caller must roll back the job's effect. */
  async finish(tx: Transaction, id: string): Promise<boolean> {
    return (await inside(tx).rows(FINISH_JOB.with({ id }))).length > 0;
  }

  /** Stores a failed attempt with the job. */
  async noteAttempt(id: string, attempt: FailedAttempt): Promise<void> {
    const statement = NOTE_ATTEMPT.with({ id, attempts: JSON.stringify([attempt]), maxAttempts: MAX_STORED_ATTEMPTS });
    await runUnprepared(this.dataSource, statement);
  }

  /**
   * Marks the job as failed for good, so that an operator decides about it. `attempt` is a failed attempt that is not yet stored,
   * for example because the worker died. False when the job is already done or failed.
   */
  async setAside(id: string, transport: TransportName, attempt?: FailedAttempt): Promise<boolean> {
    const statement = SET_JOB_ASIDE.with({ id, transport, attempts: JSON.stringify(attempt ? [attempt] : []) });
    const [rows] = await runUnprepared<[unknown[], number]>(this.dataSource, statement);
    return rows.length > 0;
  }

  /**
   * Open jobs older than `olderThanSeconds`, oldest first: BullMQ may have lost them. Leaves out jobs that are still in the
   * outbox: BullMQ may still have such a job as failed, from before an operator's retry.
   */
  open(olderThanSeconds: number, limit: number, after?: string): Promise<JobRow[]> {
    const destination = JOBS_DESTINATION;
    return runUnprepared(this.dataSource, OPEN_JOBS.with({ olderThanSeconds, limit, after: after ?? null, destination }));
  }

  /** Lists jobs, newest first. `text` (in lower case) is anywhere in the row. `before` is the text that all ids are less than. */
  list(filter: {
    state: 'open' | 'done' | 'failed' | 'any';
    class?: string;
    text?: string;
    before?: string;
    limit: number;
  }): Promise<JobRow[]> {
    const { state, text = null, before = null, limit } = filter;
    return runUnprepared(this.dataSource, LIST_JOBS.with({ state, class: filter.class ?? null, text, before, limit }));
  }

  /** Counts jobs by state. `oldestSeconds` is the age of the oldest open job. */
  async counts(): Promise<Record<'open' | 'done' | 'failed' | 'oldestSeconds', number>> {
    const none = { open: 0, done: 0, failed: 0, oldestSeconds: 0 };
    const [row = none] = await runUnprepared<(typeof none)[]>(this.dataSource, COUNT_JOBS.with({}));
    return row;
  }

  /** Makes failed jobs open again. Returns those that were failed. */
  revive(tx: Transaction, ids: readonly string[]): Promise<{ id: string; class: string }[]> {
    return inside(tx).rows(REOPEN_JOBS.with({ ids }));
  }

  /** Deletes a job that is not done. False when it is done or does not exist. */
  async drop(tx: Transaction, id: string): Promise<boolean> {
    return (await inside(tx).rows(`delete from jobs where id = $1 and done_at is null returning 1`, [id])).length > 0;
  }

  /** Deletes old jobs that are done or failed; returns how many. READ COMMITTED on purpose: no decision depends on these rows. */
  async purgeOnce(): Promise<number> {
    const statement = PURGE_JOBS.with({ keepDone: DONE_RETENTION, keepFailed: FAILED_RETENTION });
    return (await runReadCommitted(this.dataSource, (tx) => tx.query(statement))).rowCount;
  }
}

/** Retries of mails and pushes that operators asked for, while they wait in the outbox: until then BullMQ has the job as failed. */
const PENDING_RETRIES = `
  select body ->> 'queue' as queue, body ->> 'job_id' as "jobId" from outbox
  where destination = $1 and event = $2 and parked_at is null and body ? 'queue'`;
const RETRY_EVENT = 'job.retry';
const DROP_EVENT = 'job.drop';

/** The retries and drops that operators asked for, as messages of the outbox. */
export class JobRetries {
  constructor(
    private readonly dataSource: DataSource,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
  ) {}

  /** Asks for retries or drops, after the commit. */
  async append(tx: Transaction, jobs: readonly JobsMessage[]): Promise<void> {
    const about = (body: JobsMessage) => ({ destination: JOBS_DESTINATION, event: 'dropped' in body ? DROP_EVENT : RETRY_EVENT });
    await this.outbox.append(
      tx,
      jobs.map((body): OutboxMessage => ({ id: this.ids.next(), ...about(body), body })),
    );
  }

  /** The mails and pushes whose retry is not yet delivered, as `queue id`. With `tx` as this transaction sees them. */
  async pending(tx?: Transaction): Promise<ReadonlySet<string>> {
    const parameters = [JOBS_DESTINATION, RETRY_EVENT];
    const rows: { queue: string; jobId: string }[] = tx
      ? await inside(tx).rows(PENDING_RETRIES, parameters)
      : await this.dataSource.query(PENDING_RETRIES, parameters);
    return new Set(rows.map(({ queue, jobId }) => `${queue} ${jobId}`));
  }
}

/** What an operator (`by`) did with a failed job: retried it or dropped it. */
export interface JobIntervention {
  readonly queue: string;
  readonly jobId: string;
  readonly action: 'retry' | 'drop';
  readonly by: string;
  readonly at: Date;
}

/** The log of operators' retries and drops, for jobs of all queues. */
export class JobInterventions {
  constructor(private readonly dataSource: DataSource) {}

  async note(
    tx: Transaction,
    jobs: readonly { readonly queue: string; readonly id: string }[],
    { action, by }: Pick<JobIntervention, 'action' | 'by'>,
  ): Promise<void> {
    const statement = `insert into job_interventions (queue, job_id, action, by)
      select queue, job_id, $3, $4 from unnest($1::text[], $2::text[]) as j(queue, job_id)`;
    await inside(tx).rows(statement, [jobs.map(({ queue }) => queue), jobs.map(({ id }) => id), action, by]);
  }

  /** The interventions for these jobs, newest first. */
  of(jobIds: readonly string[]): Promise<JobIntervention[]> {
    return this.dataSource.query(
      `select queue, job_id as "jobId", action, by, at from job_interventions where job_id = any($1) order by id desc`,
      [jobIds],
    );
  }
}

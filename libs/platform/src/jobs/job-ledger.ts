import { Jobs, type BackgroundJob } from '#application/jobs';
import type { Ids } from '#application/ids';
import type { Outbox } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { DataSource } from 'typeorm';
import { movingRows } from '../postgres/moving-rows.ts';
import { inside } from '../postgres/transaction.ts';
import type { FailedAttempt } from './failed-attempts.ts';
import { GENERAL_QUEUE, type TransportName } from './job-transport.ts';

/** The outbox carries ids to the transport; the relay's round wakes a worker within milliseconds of the commit. */
export const JOBS_DESTINATION = GENERAL_QUEUE;
export type JobsMessage =
  | { readonly job_id: string; readonly class: string; readonly again?: boolean }
  /** A job of a notification queue that people want tried again. */
  | { readonly job_id: string; readonly queue: string; readonly again: true };

const KEPT_DONE = '1 hour';
const KEPT_FAILED = '30 days';
/** No job fails that often, unless people retry it for ever. */
const ATTEMPTS_KEPT = 50;

export interface JobRow {
  readonly id: string;
  readonly class: string;
  readonly message: BackgroundJob;
  readonly createdAt: Date;
  readonly attempts: readonly FailedAttempt[];
  readonly transport: TransportName | null;
  readonly doneAt: Date | null;
  readonly failedAt: Date | null;
}

const COLUMNS = `id, class, message, created_at as "createdAt", attempts, transport, done_at as "doneAt", failed_at as "failedAt"`;

/** Puts jobs into the ledger, and their ids on the way to the transport, in the transaction that wants them. */
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
    await inside(tx).rows(
      `insert into jobs (id, class, message)
       select id, class, message from jsonb_to_recordset($1::jsonb) as j(id uuid, class text, message jsonb)`,
      [JSON.stringify(rows)],
    );
    await this.outbox.append(
      tx,
      rows.map((row) => ({
        id: this.ids.next(),
        destination: JOBS_DESTINATION,
        event: `job.${row.class}`,
        body: { job_id: row.id, class: row.class } satisfies JobsMessage,
        ...when,
      })),
    );
  }

  /** Failed jobs are on their way again, from the beginning; how many. Those that do not stand as failed any more are left alone. */
  async retry(tx: Transaction, ids: readonly string[]): Promise<number> {
    const rows = await inside(tx).rows<{ id: string; class: string }>(
      'update jobs set failed_at = null where id = any($1) and failed_at is not null returning id, class',
      [ids],
    );
    await this.outbox.append(
      tx,
      rows.map((row) => ({
        id: this.ids.next(),
        destination: JOBS_DESTINATION,
        event: 'job.retry',
        body: { job_id: row.id, class: row.class, again: true } satisfies JobsMessage,
      })),
    );
    return rows.length;
  }
}

/** What is known of the jobs: the truth, whatever became of the transport. */
export class JobLedger {
  constructor(private readonly dataSource: DataSource) {}

  async find(id: string): Promise<JobRow | undefined> {
    const [row] = await this.dataSource.query<JobRow[]>(`select ${COLUMNS} from jobs where id = $1`, [id]);
    return row;
  }

  /** False when the job is done already, or gone: then there is nothing to do. */
  async finish(tx: Transaction, id: string): Promise<boolean> {
    const rows = await inside(tx).rows(
      `update jobs set done_at = clock_timestamp() where id = $1 and done_at is null and failed_at is null returning 1`,
      [id],
    );
    return rows.length > 0;
  }

  async noteAttempt(id: string, attempt: FailedAttempt): Promise<void> {
    await this.dataSource.query(
      `update jobs set attempts = attempts || $2::jsonb
       where id = $1 and done_at is null and jsonb_array_length(attempts) < $3`,
      [id, JSON.stringify([attempt]), ATTEMPTS_KEPT],
    );
  }

  /** It failed for good: people decide. `attempt` is added when nobody could note it, as when the worker died of it. */
  async setAside(id: string, transport: TransportName, attempt?: FailedAttempt): Promise<boolean> {
    const [rows] = await this.dataSource.query<[unknown[], number]>(
      `update jobs set failed_at = clock_timestamp(), transport = $2, attempts = attempts || $3::jsonb
       where id = $1 and done_at is null and failed_at is null returning 1`,
      [id, transport, JSON.stringify(attempt ? [attempt] : [])],
    );
    return rows.length > 0;
  }

  /**
   * Jobs nobody has finished although there was time: the transport may have lost them. Oldest first; without those that are on
   * their way to it, of which it may still know how they failed before somebody wanted them tried again.
   */
  open(olderThanSeconds: number, limit: number, after?: string): Promise<JobRow[]> {
    return this.dataSource.query(
      `select ${COLUMNS} from jobs where done_at is null and failed_at is null and ($3::uuid is null or id > $3)
         and created_at < now() - make_interval(secs => $1)
         and not exists (select from outbox o where o.destination = '${JOBS_DESTINATION}' and o.parked_at is null
                           and o.body ->> 'job_id' = jobs.id::text)
       order by id limit $2`,
      [olderThanSeconds, limit, after ?? null],
    );
  }

  /** Newest first; `text` is looked for in everything the job says. */
  list(filter: { state: 'open' | 'done' | 'failed' | 'any'; text?: string; before?: string; limit: number }): Promise<JobRow[]> {
    return this.dataSource.query(
      `select ${COLUMNS} from jobs
       where case $1 when 'open' then done_at is null and failed_at is null when 'failed' then failed_at is not null
                     when 'done' then done_at is not null else true end
         and ($2::text is null or id::text = lower($2) or strpos(lower(message::text), lower($2)) > 0)
         and ($3::uuid is null or id < $3) order by id desc limit $4`,
      [filter.state, filter.text ?? null, filter.before ?? null, filter.limit],
    );
  }

  async counts(): Promise<{ open: number; done: number; failed: number; oldestSeconds: number }> {
    const [row] = await this.dataSource.query<{ open: number; done: number; failed: number; oldestSeconds: number }[]>(
      `select count(*) filter (where done_at is null and failed_at is null)::int as open,
              count(*) filter (where done_at is not null)::int as done, count(*) filter (where failed_at is not null)::int as failed,
              coalesce(extract(epoch from now() - min(created_at) filter (where done_at is null and failed_at is null)), 0)::int
                as "oldestSeconds" from jobs`,
    );
    return row ?? { open: 0, done: 0, failed: 0, oldestSeconds: 0 };
  }

  /** To be tried again from the beginning; false when it is not set aside. */
  async revive(tx: Transaction, id: string): Promise<boolean> {
    const rows = await inside(tx).rows(`update jobs set failed_at = null where id = $1 and failed_at is not null returning 1`, [
      id,
    ]);
    return rows.length > 0;
  }

  /** False while somebody may be at it: only what failed or has not been begun can be dropped. */
  async drop(tx: Transaction, id: string): Promise<boolean> {
    const rows = await inside(tx).rows(`delete from jobs where id = $1 and done_at is null returning 1`, [id]);
    return rows.length > 0;
  }

  /** READ COMMITTED on purpose: it moves rows nobody decides by any more. */
  async purgeOnce(): Promise<number> {
    const sql = `
      delete from jobs where id in (
        select id from jobs where done_at < now() - $1::interval or failed_at < now() - $2::interval limit 1000 for update skip locked)`;
    const { rowCount } = await movingRows(this.dataSource, (tx) => tx.query(sql, [KEPT_DONE, KEPT_FAILED]));
    return rowCount;
  }
}

export interface Intervention {
  readonly queue: string;
  readonly jobId: string;
  readonly action: 'retry' | 'drop';
  readonly by: string;
  readonly at: Date;
}

/** Who had what done with jobs of any queue. */
export class JobInterventions {
  constructor(private readonly dataSource: DataSource) {}

  async note(tx: Transaction, { queue, jobId, action, by }: Omit<Intervention, 'at'>): Promise<void> {
    await inside(tx).rows('insert into job_interventions (queue, job_id, action, by) values ($1, $2, $3, $4)', [
      queue,
      jobId,
      action,
      by,
    ]);
  }

  /** Newest first. */
  of(jobIds: readonly string[]): Promise<Intervention[]> {
    return this.dataSource.query(
      `select queue, job_id as "jobId", action, by, at from job_interventions where job_id = any($1) order by id desc`,
      [jobIds],
    );
  }
}

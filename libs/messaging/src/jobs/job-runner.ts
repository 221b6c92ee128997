import type { BackgroundJob, JobHandler } from '#application/jobs';
import type { TransactionManager } from '#application/transaction-manager';
import { UnrecoverableError } from 'bullmq';
import { z } from 'zod';
import type { Logger } from '#platform/logging/logger';
import { continueFrom } from '#platform/tracing/origin';
import { isLedgerOutage } from '../inbox/delivery-ledger.ts';
import { describeFailure } from './failed-attempts.ts';
import type { JobLedger, JobRow } from './job-ledger.ts';
import { HeldBack } from './job-outcomes.ts';
import { GENERAL_QUEUE, JOB_RETRY_SECONDS, type JobTransport } from './job-transport.ts';
import { QueueConsumer } from './queue-consumer.ts';

/** The specification's error code for "a background job failed for good". */
export const JOB_FAILED_CODE = 'TRIBINA-INFRA-9100';

/** What the transport (BullMQ) stores about a job: only its id. */
const jobData = z.object({ job_id: z.guid() });

/**
 * A class of jobs with its schema and handler. The stored job is validated with the schema, because another version of the
 * service may have written it.
 */
export interface JobKind {
  readonly schema: z.ZodType<BackgroundJob>;
  readonly handler: JobHandler;
}

/** What a JobRunner needs. */
export interface RunnerOptions {
  readonly transport: JobTransport;
  readonly ledger: JobLedger;
  readonly transactions: TransactionManager;
  readonly kinds: readonly JobKind[];
  readonly logger: Logger;
  readonly concurrency: number;
  readonly retrySeconds?: readonly number[];
  readonly lockMs?: number;
  /** Called after each attempt of a job, successful or not. */
  readonly afterEach?: () => void;
  readonly onFailed?: (job: { id: string; class: string; error: Error }) => void;
}

/**
 * Runs general background jobs: takes job ids from the transport (BullMQ), reads the jobs from the job ledger (the table `jobs`),
 * calls their handlers and records the outcome in the ledger.
 */
export class JobRunner {
  private readonly consumer: QueueConsumer<{ job_id: string }>;
  private readonly kinds: ReadonlyMap<string, JobKind>;

  constructor(private readonly options: RunnerOptions) {
    this.kinds = new Map(options.kinds.map((kind) => [kind.handler.class, kind]));
    this.consumer = new QueueConsumer({
      queue: GENERAL_QUEUE,
      openWorker: options.transport.openWorker,
      schema: jobData,
      concurrency: options.concurrency,
      retrySeconds: options.retrySeconds ?? JOB_RETRY_SECONDS,
      lockMs: options.lockMs,
      logger: options.logger,
      handle: ({ job_id }) => this.attempt(job_id).finally(() => options.afterEach?.()),
      onDeadLetter: ({ jobId, error }) => void this.setAside(jobId, error),
      isOutage: isLedgerOutage,
    });
  }

  start(): void {
    this.consumer.start();
  }

  stop(graceMs: number): Promise<void> {
    return this.consumer.stop(graceMs);
  }

  private async attempt(id: string): Promise<string> {
    const row = await this.options.ledger.find(id);
    if (!row || row.doneAt || row.failedAt) return 'nothing to do';
    const { requestId, traceparent } = row;
    if (requestId === null) return this.attemptRow(row);
    const origin = { requestId, traceparent: traceparent ?? undefined };
    return continueFrom(origin, `job ${row.class}`, () => this.attemptRow(row));
  }

  private async attemptRow(row: JobRow): Promise<string> {
    const { ledger, transactions } = this.options;
    const { id } = row;
    try {
      const kind = this.kinds.get(row.class);
      if (!kind) throw new UnrecoverableError(`no handler for jobs of class ${row.class}`);
      const parsed = kind.schema.safeParse(row.message);
      if (!parsed.success) throw new UnrecoverableError(`unreadable ${row.class}: ${z.prettifyError(parsed.error)}`);
      const { handler } = kind;
      const prepared = await handler.prepare(parsed.data, id);
      return await transactions.run(async (tx) => {
        if (!(await ledger.finish(tx, id))) return 'nothing to do';
        await handler.work(tx, parsed.data, prepared);
        return 'done';
      });
    } catch (error) {
      if (!isLedgerOutage(error) && !(error instanceof HeldBack))
        await ledger.noteAttempt(id, describeFailure(error, new Date()));
      throw error;
    }
  }

  private async setAside(id: string, error: Error): Promise<void> {
    const { ledger, transport, logger, onFailed } = this.options;
    try {
      const row = await ledger.find(id);
      if (!row || row.doneAt) return;
      const isRecorded = row.attempts.at(-1)?.error === error.message;
      if (!(await ledger.setAside(id, transport.name, isRecorded ? undefined : describeFailure(error, new Date())))) return;
      const attempts = row.attempts.length + (isRecorded ? 0 : 1);
      logger.error(
        {
          ...{ code: JOB_FAILED_CODE, job_id: id, class: row.class, request_id: row.requestId ?? undefined },
          ...{ transport: transport.name, attempts, err: error },
        },
        'job failed',
      );
      onFailed?.({ id, class: row.class, error });
    } catch (cause) {
      // The transport (BullMQ) stores, too, that the job failed. JobUpkeep reads this later and marks the job as failed in the
      // ledger.
      logger.warn({ job_id: id, err: cause }, 'a failed job could not be recorded; JobUpkeep will record it later');
    }
  }
}

import type { Origin } from '#application/origin';
import type { AboutMessage } from '#contracts/queue-jobs';
import { DelayedError, UnrecoverableError, WaitingError, Worker, type Job, type Processor, type WorkerOptions } from 'bullmq';
import type { Cluster, Redis } from 'ioredis';
import type { z } from 'zod';
import type { Logger } from '#platform/logging/logger';
import { continueFrom } from '#platform/tracing/origin';
import { waitAtMost } from '#platform/wait-at-most';
import { withFailureTime } from './failed-attempts.ts';
import { HeldBack, PermanentFailure } from './job-outcomes.ts';
import { jobRetention, retryDelayMs } from './job-policy.ts';
import { CrashSuspects } from './crash-suspects.ts';

/**
 * Lifetime of the lock of a job. The jobs of a killed worker are delivered again after at most one lock lifetime and two checks:
 * 10 + 2 × 5 s.
 */
const LOCK_MS = 10_000;
const STALLED_CHECK_INTERVAL_MS = 5000;
/**
 * In how many dead workers a job may have been found before BullMQ fails it, whether or not the job killed them. The number is
 * high, because crash-suspects.ts finds a job that kills workers sooner.
 */
const MAX_STALLED_COUNT = 1000;
/**
 * How many workers a job may crash while it runs alone as a suspect. With the crash that made it a suspect these are three
 * attempts.
 */
const MAX_CRASHES_AS_SUSPECT = 2;
/**
 * Delay before the consumer fetches jobs after a lost connection. BullMQ's default of 15 s is too long for a notice that a fan's
 * turn has begun.
 */
const FETCH_RETRY_DELAY_MS = 1000;
/** Maximum time for putting unfinished jobs back into the queue when the consumer stops; each job needs one command. */
const PUT_BACK_TIMEOUT_MS = 2000;
/** How long the queue pauses when PostgreSQL is unavailable. */
const PAUSE_MS = 5000;

const LOGGED_ABOUT = [
  'request_id',
  'order_id',
  'order_number',
  'reservation_id',
  'match_id',
] as const satisfies readonly (keyof AboutMessage)[];

/** A job that has failed for good. */
export interface DeadLetter {
  readonly jobId: string;
  /** The template (kind of mail or push) as written in the job; not validated, because the job may be invalid. */
  readonly template: unknown;
  readonly error: Error;
  /**
   * Time of the failure in milliseconds, as Redis has it. It tells two failures of the same job apart. Undefined when the job
   * does not exist any more.
   */
  readonly failedAt: number | undefined;
}

interface RedisOptions {
  readonly prefix: string;
  /** A connection that only this consumer uses, with maxRetriesPerRequest null. BullMQ duplicates it for blocking reads. */
  readonly connection: Redis | Cluster;
}

/** A function that creates a BullMQ worker, for queues that are not in Redis. */
export type OpenWorker = (process: Processor<unknown, string>, options: Omit<WorkerOptions, 'connection'>) => JobWorker;
/** The part of BullMQ's `Worker` that we use. The type of the whole class depends on the backend. */
export type JobWorker = Pick<Worker<unknown, string>, 'run' | 'isRunning' | 'close' | 'pause' | 'resume'> & {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'failed', listener: (job: Job<unknown, string> | undefined, error: Error) => void): unknown;
  abandon?(): Promise<void>;
};

/** What a QueueConsumer needs: its work, and a queue in Redis or a way to open a worker elsewhere. */
export type ConsumerOptions<Message> = ConsumerWork<Message> & (RedisOptions | { readonly openWorker: OpenWorker });

interface ConsumerWork<Message> {
  readonly queue: string;
  readonly schema: z.ZodType<Message>;
  readonly concurrency: number;
  readonly retrySeconds: readonly number[];
  readonly logger: Logger;
  /** Handles one message. BullMQ stores the returned text with the completed job. */
  readonly handle: (message: Message) => Promise<string>;
  /** The request that the message comes from. Without it, log lines have the id of the job as `request_id`. */
  readonly originOf?: (message: Message) => Origin | undefined;
  readonly onDeadLetter: (letter: DeadLetter) => void;
  /**
   * True for errors that are not the fault of the message (database unavailable): the job goes back to the queue without losing
   * an attempt, and the queue pauses.
   */
  readonly isOutage: (error: unknown) => boolean;
  readonly pauseMs?: number;
  /**
   * Lifetime of the lock of a job. When a worker does not answer, its locks expire after this time, and another worker gets its
   * jobs.
   */
  readonly lockMs?: number;
}

/**
 * Consumes one BullMQ queue: validates each job, retries failed jobs with our delays, and puts unfinished jobs back when the
 * process stops.
 */
export class QueueConsumer<Message> {
  private readonly worker: JobWorker;
  private readonly inProgress = new JobsInProgress();
  private pauseTimer: NodeJS.Timeout | undefined;
  private isStopping = false;
  private readonly suspects?: CrashSuspects;

  constructor(private readonly options: ConsumerOptions<Message>) {
    const { queue } = options;
    let open: OpenWorker;
    if ('openWorker' in options) open = options.openWorker;
    else {
      const { connection, prefix } = options;
      this.suspects = new CrashSuspects(connection, `${prefix}:${queue}`, MAX_CRASHES_AS_SUSPECT);
      open = (process, others) => new RedisWorker(queue, process, { ...others, connection, prefix });
    }
    this.worker = open((job, token) => withFailureTime(this.process(job, token)), {
      autorun: false,
      concurrency: options.concurrency,
      lockDuration: options.lockMs ?? LOCK_MS,
      stalledInterval: options.lockMs ? options.lockMs / 2 : STALLED_CHECK_INTERVAL_MS,
      maxStalledCount: this.suspects ? MAX_STALLED_COUNT : MAX_CRASHES_AS_SUSPECT,
      runRetryDelay: FETCH_RETRY_DELAY_MS,
      settings: { backoffStrategy: (sendsMade) => retryDelayMs(options.retrySeconds, sendsMade) },
      ...jobRetention,
    });
    this.worker.on('error', (error) => options.logger.warn({ queue, err: error }, 'queue connection failed'));
    this.worker.on('failed', (job, error) => this.failed(job, error));
  }

  start(): void {
    const { logger, queue } = this.options;
    void this.worker.run().catch((error: unknown) => logger.error({ queue, err: error }, 'queue consumer ended'));
  }

  /**
   * Takes no more jobs, finishes the current jobs, and after `graceMs` puts unfinished jobs back into the queue for another
   * worker. If Redis does not answer, `stop` ends anyway; then the unfinished jobs are delivered again when their locks expire.
   */
  async stop(graceMs: number): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.pauseTimer);
    const graceTimer = setTimeout(() => this.inProgress.putAllBack(), graceMs);
    const outcome = await waitAtMost(graceMs + PUT_BACK_TIMEOUT_MS, this.worker.close(), 'no Redis');
    clearTimeout(graceTimer);
    if (outcome === 'no Redis') await this.worker.abandon?.();
  }

  get queue(): string {
    return this.options.queue;
  }

  /** True until `stop` is called; true also while the queue pauses, because a paused queue continues by itself. */
  isConsuming(): boolean {
    return this.worker.isRunning() && !this.isStopping;
  }

  private async process(job: Job<unknown, string>, token: string | undefined): Promise<string> {
    // The retry delays of this consumer apply to every job, even to a job that was added by hand with other options.
    job.opts.attempts = 1 + this.options.retrySeconds.length;
    job.opts.backoff = { type: 'custom' };
    const parsed = this.options.schema.safeParse(job.data);
    if (!parsed.success) throw new UnrecoverableError(`unreadable: ${describeIssues(parsed.error)}`);
    const origin = this.options.originOf?.(parsed.data) ?? { requestId: job.id ?? 'job' };
    const handle = (): Promise<string> =>
      continueFrom(origin, `process ${this.options.queue}`, () => this.options.handle(parsed.data), Date.now() + LOCK_MS);
    const work = this.isolateIfSuspect(job, handle);
    const outcome = await this.inProgress.run(work).catch((error: unknown) => this.handleError(error, job, token));
    if (outcome !== PUT_BACK) return outcome;
    // The handler still runs and may succeed. The inbox (the table of what consumers have done) keeps the next worker from doing
    // the job a second time.
    work.catch((error: unknown) =>
      this.options.logger.warn({ job_id: job.id, err: error }, 'a job failed after it was put back'),
    );
    if (token) await job.moveToWait(token);
    throw new WaitingError();
  }

  /**
   * Runs a job alone if it is suspected of having crashed a worker. For queues in Redis we count crashes; for a queue in
   * PostgreSQL BullMQ counts them.
   */
  private isolateIfSuspect(job: Job<unknown, string>, handle: () => Promise<string>): Promise<string> {
    if (!this.suspects) return handle();
    return job.stalledCounter > 0 ? this.suspects.runAlone(job.id ?? 'job', handle) : this.suspects.runShared(handle);
  }

  /**
   * Decides what happens to a job after an error of its handler. During an outage the queue pauses; otherwise a thousand jobs a
   * second would be taken and put back while the database restarts.
   */
  private async handleError(error: unknown, job: Job<unknown, string>, token: string | undefined): Promise<never> {
    const { isOutage, pauseMs } = this.options;
    if (error instanceof PermanentFailure) throw new UnrecoverableError(error.message);
    if (!token) throw error;
    if (error instanceof HeldBack && error.scope === 'job') {
      await job.moveToDelayed(Date.now() + error.forMs, token);
      throw new DelayedError();
    }
    if (!(error instanceof HeldBack) && !isOutage(error)) throw error;
    await this.pause(error, error instanceof HeldBack ? error.forMs : (pauseMs ?? PAUSE_MS));
    await job.moveToWait(token);
    throw new WaitingError();
  }

  private async pause(error: unknown, forMs: number): Promise<void> {
    if (this.pauseTimer || this.isStopping) return;
    const { logger, queue } = this.options;
    logger.warn({ queue, err: error, pause_ms: forMs }, 'queue pauses');
    this.pauseTimer = setTimeout(() => {
      this.pauseTimer = undefined;
      void this.worker.resume();
    }, forMs);
    await this.worker.pause(true);
  }

  private failed(job: Job<unknown, string> | undefined, error: Error): void {
    const { logger, queue, onDeadLetter } = this.options;
    const template = templateOf(job?.data);
    const facts = { queue, job_id: job?.id, template, ...loggedAbout(job?.data), attempt: job?.attemptsMade, err: error };
    // BullMQ emits `failed` after every attempt. The job has `finishedOn` only after its last attempt.
    if (job?.id && !job.finishedOn) return void logger.warn(facts, 'job failed and will be retried');
    logger.error(facts, 'dead letter');
    onDeadLetter({ jobId: job?.id ?? 'unknown', template, error, failedAt: job?.finishedOn });
  }
}

/** BullMQ's worker with a way to stop without Redis. Without Redis its `close` never resolves. */
export class RedisWorker extends Worker<unknown, string> {
  /**
   * Stops the timers that renew locks and look for stalled jobs, and stops reconnecting. Call it when `close` does not resolve.
   */
  async abandon(): Promise<void> {
    await this.lockManager.close();
    this['stalledCheckStopper']?.();
    await this.backend.close(true);
  }
}

const PUT_BACK = Symbol('put back');

/**
 * The jobs that the consumer is doing, so that a stop can put all of them back into the queue. BullMQ's own AbortSignal for each
 * job would cost time and memory for every mail, although a process stops only once.
 */
class JobsInProgress {
  private readonly resolvers = new Set<(outcome: typeof PUT_BACK) => void>();
  private isStopped = false;

  /** Resolves like `work`, or with PUT_BACK when the jobs are put back before `work` ends. */
  run<T>(work: Promise<T>): Promise<T | typeof PUT_BACK> {
    return new Promise((resolve, reject) => {
      if (this.isStopped) resolve(PUT_BACK);
      this.resolvers.add(resolve);
      void work.then(resolve, reject).finally(() => this.resolvers.delete(resolve));
    });
  }

  putAllBack(): void {
    this.isStopped = true;
    for (const resolve of this.resolvers) resolve(PUT_BACK);
  }
}

/** The template (kind of mail or push) as written in the data of a job, which may be invalid. */
export function templateOf(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'template' in data ? data.template : undefined;
}

/** What a mail or push is about, for log lines: ids only. The data of the job may be invalid. */
export function loggedAbout(data: unknown): Readonly<Record<string, string>> {
  const about = (data as { readonly about?: Readonly<Record<string, unknown>> } | undefined)?.about;
  const logged: Record<string, string> = {};
  for (const name of LOGGED_ABOUT) {
    const value = about?.[name];
    if (typeof value === 'string') logged[name] = value;
  }
  return logged;
}

/**
 * Describes the errors of an invalid job by field paths and error codes. Values are left out: they may be people's addresses, and
 * this text is stored with the job.
 */
export function describeIssues({ issues }: z.ZodError): string {
  const described = issues.slice(0, 5).map(({ path, code }) => `${path.join('.') || 'job'} ${code}`);
  return described.join(', ');
}

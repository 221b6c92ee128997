import { DelayedError, UnrecoverableError, WaitingError, Worker, type Job, type Processor, type WorkerOptions } from 'bullmq';
import type { Cluster, Redis } from 'ioredis';
import type { z } from 'zod';
import type { Logger } from '../logging/logger.ts';
import { requestContext } from '../logging/request-context.ts';
import { stampedFailure } from './failed-attempts.ts';
import { HeldBack, Hopeless } from './job-outcomes.ts';
import { keptJobs, retryDelayMs } from './job-policy.ts';
import { Suspects } from './suspects.ts';

/** A killed worker's jobs come back after at most lock + two checks: 10 + 2 × 5 s. */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 5000;
/** BullMQ fails whatever was found in dead hands so often, guilty or not; suspects.ts finds the guilty one sooner. */
const TIMES_STALLED = 1000;
/** Beside the first: a job that kills its worker gets its three sends and no more. */
const DEATHS_AS_SUSPECT = 2;
/** BullMQ waits 15 s after a lost connection before it fetches again; a turn notice cannot. */
const FETCH_AGAIN_MS = 1000;
/** Putting back is one command a job. */
const GIVING_BACK_MS = 2000;
/** How long nothing is taken after an outage of our own was met. */
const REST_MS = 5000;

export interface DeadLetter {
  readonly jobId: string;
  /** As written in the job; not checked, the job may be unreadable. */
  readonly template: unknown;
  readonly error: Error;
  /** Milliseconds, as in Redis: retried and dead again it is another dead letter. Undefined where the job is gone. */
  readonly failedAt: number | undefined;
}

interface InRedis {
  readonly prefix: string;
  /** Its own connection: maxRetriesPerRequest null; BullMQ duplicates it for blocking reads. */
  readonly connection: Redis | Cluster;
}

/** How the worker is made where jobs may wait elsewhere than in Redis. */
export type OpenWorker = (process: Processor<unknown, string>, options: Omit<WorkerOptions, 'connection'>) => JobWorker;
/** Not `Worker` as such: its type names its backend. */
export type JobWorker = Pick<Worker<unknown, string>, 'run' | 'isRunning' | 'close' | 'pause' | 'resume'> & {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'failed', listener: (job: Job<unknown, string> | undefined, error: Error) => void): unknown;
  abandon?(): Promise<void>;
};

export type ConsumerOptions<Message> = ConsumerWork<Message> & (InRedis | { readonly openWorker: OpenWorker });

interface ConsumerWork<Message> {
  readonly queue: string;
  readonly schema: z.ZodType<Message>;
  readonly concurrency: number;
  readonly retrySeconds: readonly number[];
  readonly logger: Logger;
  /** Deals with one message; the word it answers is kept with the completed job. */
  readonly handle: (message: Message) => Promise<string>;
  readonly onDeadLetter: (letter: DeadLetter) => void;
  /** Errors that say nothing about the message (our database is away): it goes back, loses no attempt, and the queue rests. */
  readonly isOutage: (error: unknown) => boolean;
  readonly restMs?: number;
  /** How long a worker that says nothing keeps its jobs. */
  readonly lockMs?: number;
}

/** Takes jobs off one BullMQ queue: parsed on arrival, retried by our schedule, given back when the process stops. */
export class QueueConsumer<Message> {
  private readonly worker: JobWorker;
  private readonly inHand = new InHand();
  private resting: NodeJS.Timeout | undefined;
  private stopping = false;
  private readonly suspects: Suspects | undefined;

  constructor(private readonly options: ConsumerOptions<Message>) {
    this.suspects =
      'connection' in options
        ? new Suspects(options.connection, `${options.prefix}:${options.queue}`, DEATHS_AS_SUSPECT)
        : undefined;
    const open = 'openWorker' in options ? options.openWorker : openInRedis(options.queue, options);
    this.worker = open((job, token) => stampedFailure(this.process(job, token)), {
      autorun: false,
      concurrency: options.concurrency,
      lockDuration: options.lockMs ?? LOCK_MS,
      stalledInterval: options.lockMs ? options.lockMs / 2 : STALLED_CHECK_MS,
      maxStalledCount: this.suspects ? TIMES_STALLED : DEATHS_AS_SUSPECT,
      runRetryDelay: FETCH_AGAIN_MS,
      settings: { backoffStrategy: (sendsMade) => retryDelayMs(options.retrySeconds, sendsMade) },
      ...keptJobs,
    });
    this.worker.on('error', (error) => options.logger.warn({ queue: options.queue, err: error }, 'queue connection trouble'));
    this.worker.on('failed', (job, error) => this.failed(job, error));
  }

  start(): void {
    void this.worker
      .run()
      .catch((error: unknown) => this.options.logger.error({ queue: this.options.queue, err: error }, 'queue consumer ended'));
  }

  /**
   * Takes no more, finishes what it holds, and after `graceMs` puts the rest back into the queue for another worker. Without
   * Redis neither can be told: then it leaves, and the locks of what it held run out.
   */
  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    clearTimeout(this.resting);
    const giveBack = setTimeout(() => this.inHand.giveBack(), graceMs);
    let leave: NodeJS.Timeout | undefined;
    const noRedis = new Promise<'no Redis'>((resolve) => {
      leave = setTimeout(resolve, graceMs + GIVING_BACK_MS, 'no Redis');
    });
    const outcome = await Promise.race([this.worker.close(), noRedis]);
    clearTimeout(giveBack);
    clearTimeout(leave);
    if (outcome === 'no Redis') await this.worker.abandon?.();
  }

  get queue(): string {
    return this.options.queue;
  }

  /** Also while it rests: it will take jobs again by itself. */
  isTaking(): boolean {
    return this.worker.isRunning() && !this.stopping;
  }

  private async process(job: Job<unknown, string>, token: string | undefined): Promise<string> {
    // The schedule is the consumer's, whoever put the job in.
    job.opts.attempts = 1 + this.options.retrySeconds.length;
    job.opts.backoff = { type: 'custom' };
    const parsed = this.options.schema.safeParse(job.data);
    if (!parsed.success) throw new UnrecoverableError(`unreadable: ${faultsOf(parsed.error)}`);
    const handle = (): Promise<string> =>
      requestContext.run({ requestId: job.id ?? 'job', deadlineAt: Date.now() + LOCK_MS }, () =>
        this.options.handle(parsed.data),
      );
    const work = this.amongOthers(job, handle);
    const outcome = await this.inHand.until(work).catch((error: unknown) => this.holdBack(error, job, token));
    if (outcome !== GIVEN_BACK) return outcome;
    // The handler may still get through; the inbox keeps whoever takes the job next from doing it again.
    work.catch((error: unknown) => this.options.logger.warn({ job_id: job.id, err: error }, 'given back while it failed'));
    if (token) await job.moveToWait(token);
    throw new WaitingError();
  }

  /** Deaths are counted in Redis; jobs that wait elsewhere are BullMQ's to count. */
  private amongOthers(job: Job<unknown, string>, handle: () => Promise<string>): Promise<string> {
    if (!this.suspects) return handle();
    return job.stalledCounter > 0 ? this.suspects.apart(job.id ?? 'job', handle) : this.suspects.together(handle);
  }

  /** Without a rest a thousand jobs a second would be taken and put back while the database restarts. */
  private async holdBack(error: unknown, job: Job<unknown, string>, token: string | undefined): Promise<never> {
    const { isOutage, restMs } = this.options;
    if (error instanceof Hopeless) throw new UnrecoverableError(error.message);
    if (!token) throw error;
    if (error instanceof HeldBack && error.who === 'job') {
      await job.moveToDelayed(Date.now() + error.forMs, token);
      throw new DelayedError();
    }
    if (!(error instanceof HeldBack) && !isOutage(error)) throw error;
    await this.rest(error, error instanceof HeldBack ? error.forMs : (restMs ?? REST_MS));
    await job.moveToWait(token);
    throw new WaitingError();
  }

  private async rest(error: unknown, forMs: number): Promise<void> {
    if (this.resting || this.stopping) return;
    const { logger, queue } = this.options;
    logger.warn({ queue, err: error, rest_ms: forMs }, 'queue rests');
    this.resting = setTimeout(() => this.resume(), forMs);
    await this.worker.pause(true);
  }

  private resume(): void {
    this.resting = undefined;
    void this.worker.resume();
  }

  private failed(job: Job<unknown, string> | undefined, error: Error): void {
    const { logger, queue, onDeadLetter } = this.options;
    const template = templateOf(job?.data);
    const facts = { queue, job_id: job?.id, template, attempt: job?.attemptsMade, err: error };
    // BullMQ says `failed` after every attempt; only the last one has an end.
    if (job?.id && !job.finishedOn) return void logger.warn(facts, 'job failed, will be tried again');
    logger.error(facts, 'dead letter');
    onDeadLetter({ jobId: job?.id ?? 'unknown', template, error, failedAt: job?.finishedOn });
  }
}

/** BullMQ's worker. Its `close` waits for Redis without end. */
export class RedisWorker extends Worker<unknown, string> {
  /** Ends what `close` leaves without Redis: the timer that renews locks, the one that looks for stalled jobs, the reconnecting. */
  async abandon(): Promise<void> {
    await this.lockManager.close();
    this['stalledCheckStopper']?.();
    await this.backend.close(true);
  }
}

function openInRedis(queue: string, { connection, prefix }: InRedis): OpenWorker {
  return (process, options) => new RedisWorker(queue, process, { ...options, connection, prefix });
}

const GIVEN_BACK = Symbol('given back');

/**
 * What the consumer works on, so that all of it can be let go of together. BullMQ's own way is an AbortSignal for each job: work
 * and garbage with every mail for what happens once in the life of a process.
 */
class InHand {
  private readonly letGo = new Set<(word: typeof GIVEN_BACK) => void>();
  private isOver = false;

  until<T>(work: Promise<T>): Promise<T | typeof GIVEN_BACK> {
    return new Promise((resolve, reject) => {
      if (this.isOver) resolve(GIVEN_BACK);
      this.letGo.add(resolve);
      work.then(
        (outcome) => {
          this.letGo.delete(resolve);
          resolve(outcome);
        },
        (error: unknown) => {
          this.letGo.delete(resolve);
          reject(error as Error);
        },
      );
    });
  }

  giveBack(): void {
    this.isOver = true;
    for (const letGo of this.letGo) letGo(GIVEN_BACK);
  }
}

function templateOf(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'template' in data ? data.template : undefined;
}

/** Paths and reasons, never values: they are addresses of people, and this text is stored with the job. */
function faultsOf(error: z.ZodError): string {
  return error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.join('.') || 'job'} ${issue.code}`)
    .join(', ');
}

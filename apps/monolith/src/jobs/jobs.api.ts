import type { JobState, QueueName } from '#contracts/jobs';

/** A job as operators see it, with its failed attempts. */
export interface JobView {
  readonly id: string;
  readonly queue: QueueName;
  /** The template of a mail or push, the class of a general job, or the event of an outbox message. */
  readonly template: string;
  readonly state: JobState;
  /** The failed attempts, newest first. `at` is null if the worker died before it could record the time. */
  readonly attempts: readonly { readonly at: string | null; readonly error: string; readonly stack: string }[];
  readonly createdAt: Date;
  /** Where the job waits for a worker: in Redis or in PostgreSQL. */
  readonly transport: 'redis' | 'postgres';
  readonly payload: unknown;
  /** What operators did with the job, newest first. */
  readonly interventions: readonly { readonly action: 'retry' | 'drop'; readonly by: string; readonly at: Date }[];
}

/** Which jobs to list. An omitted field does not restrict the list. */
export interface JobFilter {
  readonly state?: JobState;
  readonly queue?: QueueName;
  readonly template?: string;
  /** The search text: the number or id of an order, or the id of a fan, a match or the job itself. */
  readonly text?: string;
  /** Restricts the list to jobs that are older than the job with this id. */
  readonly before?: string;
  readonly limit: number;
}

/** How many jobs of one queue are in each state. */
export interface JobCounts extends Readonly<Record<JobState, number>> {
  readonly queue: QueueName;
  readonly oldestWaitingSeconds: number;
}

/** When `JobsApi.consume` stops. */
export interface ConsumeLimits {
  readonly limit: number;
  readonly timeLimitSeconds: number;
  readonly untilEmpty: boolean;
  /** When aborted, the consumer finishes its current job and stops. */
  readonly stop: AbortSignal;
}

/** Lists, retries, drops and runs jobs for the CLI. */
export abstract class JobsApi {
  abstract list(filter: JobFilter): Promise<readonly JobView[]>;
  abstract counts(): Promise<readonly JobCounts[]>;
  abstract retry(command: { id: string; by: string }): Promise<JobView>;
  abstract drop(command: { id: string; by: string }): Promise<JobView>;
  /** Runs general jobs (all except mails and pushes) in this process, also while the services run. Returns how many it ran. */
  abstract consume(limits: ConsumeLimits): Promise<number>;
}

import type { JobPosition, JobState, QueueName } from '#contracts/jobs';

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
  /**
   * The search text: the id of the job, the number or id of an order, the id of a fan or match, an email address, or a part of a
   * template or an error.
   */
  readonly text?: string;
  /** Restricts the list to the jobs after this one. */
  readonly after?: JobPosition;
}

/** A part of the list of jobs. `next` is where the next part begins; undefined if there is none. */
export interface JobPage {
  readonly jobs: readonly JobView[];
  readonly next: JobPosition | undefined;
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
  /** The newest jobs that match the filter, at most `limit`. */
  abstract list(filter: JobFilter, limit: number): Promise<readonly JobView[]>;
  abstract counts(): Promise<readonly JobCounts[]>;
  abstract retry(command: { id: string; by: string }): Promise<JobView>;
  abstract drop(command: { id: string; by: string }): Promise<JobView>;
  /** Runs general jobs (all except mails and pushes) in this process, also while the services run. Returns how many it ran. */
  abstract consume(limits: ConsumeLimits): Promise<number>;
}

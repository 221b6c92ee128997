export const jobStates = ['waiting', 'delayed', 'active', 'completed', 'failed'] as const;
export type JobState = (typeof jobStates)[number];
/** `outbox`: messages that did not get as far as a queue and were parked. */
export const queueNames = ['email', 'push', 'push-priority', 'jobs', 'outbox'] as const;
export type QueueName = (typeof queueNames)[number];

export interface JobView {
  readonly id: string;
  readonly queue: QueueName;
  /** The message's template; of a general job its class, of a message of the outbox its event. */
  readonly template: string;
  readonly state: JobState;
  /** Those that failed, newest first. `at` is null where the worker died before it could say. */
  readonly attempts: readonly { readonly at: string | null; readonly error: string; readonly stack: string }[];
  readonly createdAt: Date;
  /** What carried it: Redis, or PostgreSQL. */
  readonly transport: 'redis' | 'postgres';
  readonly payload: unknown;
  /** Newest first. */
  readonly interventions: readonly { readonly action: 'retry' | 'drop'; readonly by: string; readonly at: Date }[];
}

export interface JobFilter {
  readonly state?: JobState;
  readonly queue?: QueueName;
  readonly template?: string;
  /** The number or id of an order, the id of a fan, a match or the job itself. */
  readonly text?: string;
  /** Only what is older than the job with this id. */
  readonly before?: string;
  readonly limit: number;
}

export interface JobCounts extends Readonly<Record<JobState, number>> {
  readonly queue: QueueName;
  readonly oldestWaitingSeconds: number;
}

export interface ConsumeLimits {
  readonly limit: number;
  readonly timeLimitSeconds: number;
  readonly untilEmpty: boolean;
  /** Finish what is in hand, and stop. */
  readonly stop: AbortSignal;
}

/** Looking after jobs, for who does it by hand besides the services. */
export abstract class JobsApi {
  abstract list(filter: JobFilter): Promise<readonly JobView[]>;
  abstract counts(): Promise<readonly JobCounts[]>;
  abstract retry(command: { id: string; by: string }): Promise<JobView>;
  abstract drop(command: { id: string; by: string }): Promise<JobView>;
  /** Does general jobs besides those that the services do; how many. */
  abstract consume(limits: ConsumeLimits): Promise<number>;
}

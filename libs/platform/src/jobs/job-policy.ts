import type { JobsOptions, WorkerOptions } from 'bullmq';

/** One send at once and one after each delay of NOTIFICATION_RETRY_SECONDS; then the dead letter. */
const SENDS = 3;
const COMPLETED_KEPT_SECONDS = 3600;
const FAILED_KEPT_SECONDS = 30 * 24 * 3600;

/**
 * How a message becomes a job. Its id is the job's id, so that a message published twice within the hour in which completed
 * jobs are kept is one job already in Redis; after that the inbox tells.
 */
export function notificationJobOptions(messageId: string): JobsOptions {
  return {
    jobId: messageId,
    attempts: SENDS,
    backoff: { type: 'custom' },
    removeOnComplete: { age: COMPLETED_KEPT_SECONDS },
    removeOnFail: { age: FAILED_KEPT_SECONDS },
  };
}

/** The same policy from the consumer's side, so that a job put in by hand is kept and retried like any other. */
export const keptJobs: Pick<WorkerOptions, 'removeOnComplete' | 'removeOnFail'> = {
  removeOnComplete: { age: COMPLETED_KEPT_SECONDS },
  removeOnFail: { age: FAILED_KEPT_SECONDS },
};

const GIVE_UP = -1;

/** Milliseconds until the next send after `sendsMade` failed ones. */
export function retryDelayMs(retrySeconds: readonly number[], sendsMade: number): number {
  const seconds = retrySeconds[sendsMade - 1];
  return seconds === undefined ? GIVE_UP : seconds * 1000;
}

import type { JobsOptions } from 'bullmq';

/**
 * Attempts of a mail or push: one at once, and one after each of the two delays of NOTIFICATION_RETRY_SECONDS. Then the job
 * becomes a dead letter.
 */
const MAX_ATTEMPTS = 3;
const COMPLETED_RETENTION_SECONDS = 3600;
const FAILED_RETENTION_SECONDS = 30 * 24 * 3600;

/** How long finished and failed jobs are kept, as options of BullMQ's jobs, and of its workers for jobs that were added by hand. */
export const jobRetention = {
  removeOnComplete: { age: COMPLETED_RETENTION_SECONDS },
  removeOnFail: { age: FAILED_RETENTION_SECONDS },
};

/**
 * BullMQ options of the job of a mail or push. The id of the message is the id of the job. So a message that is delivered twice
 * within an hour, while completed jobs are kept, is one job in Redis. After that hour the inbox (the table of what consumers have
 * done) recognises a repeated message.
 */
export function notificationJobOptions(messageId: string): JobsOptions {
  return {
    jobId: messageId,
    attempts: MAX_ATTEMPTS,
    backoff: { type: 'custom' },
    ...jobRetention,
  };
}

/** A mail or push as BullMQ's `addBulk` takes it. The name of a job is its template. */
export const notificationJob = <Body extends { readonly template: string }>(id: string, body: Body) => ({
  name: body.template,
  data: body,
  opts: notificationJobOptions(id),
});

/** A backoff of -1 makes BullMQ fail the job for good. */
const NO_RETRY = -1;

/** Returns the milliseconds to wait after `sendsMade` failed attempts. */
export function retryDelayMs(retrySeconds: readonly number[], sendsMade: number): number {
  const seconds = retrySeconds[sendsMade - 1];
  return seconds === undefined ? NO_RETRY : seconds * 1000;
}

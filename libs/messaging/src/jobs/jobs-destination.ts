import type { Delivery, Destination, RelayedMessage } from '../outbox/destination.ts';
import { JOBS_DESTINATION, type JobsMessage } from './job-ledger.ts';
import { inParallel, type JobTransport } from './job-transport.ts';

/**
 * Delivers the outbox messages of three kinds: background jobs, to the configured transport; retries that operators asked for, to that
 * transport or to a mail or push queue; and drops of jobs in a mail or push queue. The request that drops a job removes it at once;
 * the message removes it if the process dies before that.
 */
export class JobsDestination implements Destination {
  readonly name = JOBS_DESTINATION;
  readonly batchSize = 500;

  constructor(
    private readonly transport: JobTransport,
    private readonly notifications: {
      readonly retry: (queue: string, jobId: string) => Promise<void>;
      readonly drop: (queue: string, jobId: string) => Promise<unknown>;
    },
  ) {}

  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    const jobs: { id: string; class: string }[] = [];
    const again: string[] = [];
    const notifications: { queue: string; jobId: string; act: 'retry' | 'drop' }[] = [];
    for (const { body } of messages) {
      const message = body as JobsMessage;
      if ('queue' in message) {
        const act = 'dropped' in message ? 'drop' : 'retry';
        notifications.push({ queue: message.queue, jobId: message.job_id, act });
        continue;
      }
      if (message.again) again.push(message.job_id);
      jobs.push({ id: message.job_id, class: message.class });
    }
    // An operator may retry thousands of jobs at once, so they are not retried one after another.
    await inParallel(notifications, ({ queue, jobId, act }) => this.notifications[act](queue, jobId));
    await this.transport.remove(again);
    await this.transport.add(jobs);
    return messages.map(({ id }) => ({ id, outcome: 'delivered' }));
  }
}

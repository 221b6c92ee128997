import type { Delivery, Destination, RelayedMessage } from '../outbox/destination.ts';
import { JOBS_DESTINATION, type JobsMessage } from './job-ledger.ts';
import type { JobTransport } from './job-transport.ts';

/**
 * Delivers the outbox messages of two kinds: background jobs, to the configured transport, and retries that operators asked for,
 * to that transport or to a mail or push queue.
 */
export class JobsDestination implements Destination {
  readonly name = JOBS_DESTINATION;
  readonly batchSize = 500;

  constructor(
    private readonly transport: JobTransport,
    private readonly retryNotification: (queue: string, jobId: string) => Promise<void>,
  ) {}

  async deliver(messages: readonly RelayedMessage[]): Promise<readonly Delivery[]> {
    const jobs: { id: string; class: string }[] = [];
    for (const { body } of messages) {
      const message = body as JobsMessage;
      if ('queue' in message) {
        await this.retryNotification(message.queue, message.job_id);
        continue;
      }
      if (message.again) await this.transport.remove([message.job_id]);
      jobs.push({ id: message.job_id, class: message.class });
    }
    await this.transport.add(jobs);
    return messages.map(({ id }) => ({ id, outcome: 'delivered' }));
  }
}

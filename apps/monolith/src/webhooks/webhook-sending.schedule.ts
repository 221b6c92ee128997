import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import type { PeriodicTask } from '#platform/schedule/periodic-task';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { PostgresWebhooks } from './postgres-webhooks.ts';
import { WebhookSender } from './webhook-sender.ts';

/** Sends what is due to the webhooks of partners. */
@Injectable()
export class WebhookSending implements BeforeApplicationShutdown {
  private readonly task: PeriodicTask;

  constructor(
    private readonly sender: WebhookSender,
    webhooks: PostgresWebhooks,
    tasks: PeriodicTasks,
  ) {
    const does = 'Sends events to the webhooks of partners. Runs at once when an event is planned.';
    this.task = tasks.add({ name: 'webhooks', everyMs: 1000, pausesAfterFailure: true, does }, () => this.sender.start());
    const purge = {
      name: 'old webhook deliveries',
      everyMs: 3_600_000,
      does: 'Deletes deliveries of webhooks after 30 days, in batches.',
    };
    tasks.add(purge, () => webhooks.purgeOnce());
  }

  runSoon(): void {
    this.task.runSoon();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.sender.stop();
  }
}

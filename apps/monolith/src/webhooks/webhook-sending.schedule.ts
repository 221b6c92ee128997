import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import type { PeriodicTask } from '#platform/schedule/periodic-task';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { WebhookSender } from './webhook-sender.ts';

/** Sends what is due to the webhooks of partners. */
@Injectable()
export class WebhookSending implements BeforeApplicationShutdown {
  private readonly task: PeriodicTask;

  constructor(
    private readonly sender: WebhookSender,
    tasks: PeriodicTasks,
  ) {
    const does = 'Sends events to the webhooks of partners. Runs at once when an event is planned.';
    this.task = tasks.add({ name: 'webhooks', everyMs: 1000, pausesAfterFailure: true, does }, () => this.sender.start());
  }

  runSoon(): void {
    this.task.runSoon();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.sender.stop();
  }
}

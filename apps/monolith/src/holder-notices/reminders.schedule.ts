import type { Logger } from '#platform/logging/logger';
import { RelayLoop } from '#messaging/outbox/relay-loop';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { PlanReminders } from './plan-reminders.ts';

const PLAN_INTERVAL_MS = 300_000;

/** Plans reminders every five minutes. */
export class ReminderSchedule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop: RelayLoop;

  constructor(
    planReminders: PlanReminders,
    logger: Logger,
    private readonly isLooping: boolean,
  ) {
    this.loop = new RelayLoop('reminders', () => planReminders.execute().then(() => 0), logger, PLAN_INTERVAL_MS);
  }

  onApplicationBootstrap(): void {
    if (this.isLooping) this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }
}

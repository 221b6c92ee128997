import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { BLACKLIST_CHANNEL } from '#contracts/queue-keys';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { PeriodicTask, TaskDefinition } from '#platform/schedule/periodic-task';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { LOGGER, SUBSCRIBER } from '../../tokens.ts';
import { RemoveBlacklistedFans } from '../application/remove-blacklisted-fans.ts';

const BLACKLIST: TaskDefinition = {
  name: 'blacklist',
  // A change whose publication was lost is read within this time.
  everyMs: 1000,
  does: 'Reads the blacklist and removes new fans on it from their lines. Runs at once after a change is published.',
};

/** Refreshes the pod's copy of the blacklist: at the start, when the monolith publishes a change, and every second. */
@Injectable()
export class BlacklistListener implements OnApplicationBootstrap {
  private readonly task: PeriodicTask;

  constructor(
    private readonly removeBlacklistedFans: RemoveBlacklistedFans,
    @Inject(SUBSCRIBER) private readonly subscriber: RedisConnection,
    @Inject(LOGGER) private readonly logger: Logger,
    tasks: PeriodicTasks,
  ) {
    this.task = tasks.add(BLACKLIST, () => this.refresh());
  }

  async onApplicationBootstrap(): Promise<void> {
    // psubscribe, so that these messages arrive as 'pmessage' and PodsListener, which listens to 'message', does not see them.
    this.subscriber.on('pmessage', (pattern: string) => void (pattern === BLACKLIST_CHANNEL && this.task.runSoon()));
    const subscribe = () => void this.subscriber.psubscribe(BLACKLIST_CHANNEL).catch(() => undefined);
    if (this.subscriber.status === 'ready') subscribe();
    else this.subscriber.once('ready', subscribe);
    // The blacklist is read before the pod accepts joins. Without Redis the read fails, but then no fan can join either.
    await this.removeBlacklistedFans.learn().catch(() => undefined);
    this.task.runSoon();
  }

  /** If the blacklist cannot be read, the last known list still applies. */
  private async refresh(): Promise<void> {
    const ended = await this.removeBlacklistedFans.runOnce();
    if (ended > 0) this.logger.info({ ended }, 'removed fans on the blacklist from their lines');
  }
}

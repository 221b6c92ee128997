import { BLACKLIST_CHANNEL } from '#contracts/queue-keys';
import type { Logger } from '#platform/logging/logger';
import type { PeriodicTask } from '#platform/schedule/periodic-task';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { closeRedis, connectRedis, type RedisConnection } from '#platform/redis/redis-connection';
import { Inject, Injectable, type OnApplicationBootstrap, type BeforeApplicationShutdown } from '@nestjs/common';
import type { MonolithConfig } from '../config.ts';
import { CONFIG, LOGGER } from '../tokens.ts';
import { CachedBlacklist } from './cached-blacklist.ts';

/**
 * Keeps the copies of the blacklist up to date. Every process reads the blacklist at start, when a message on `BLACKLIST_CHANNEL`
 * says that the blacklist changed, and every second in case such a message was lost. Each run also checks the waiting room's copy
 * in Redis.
 */
@Injectable()
export class BlacklistKeeper implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly task: PeriodicTask;
  private subscriber: RedisConnection | undefined;

  constructor(
    private readonly copies: CachedBlacklist,
    @Inject(CONFIG) private readonly config: MonolithConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly tasks: PeriodicTasks,
  ) {
    const definition = {
      name: 'blacklist keeper',
      everyMs: 1000,
      pausesAfterFailure: true,
      does: 'Refreshes the copies of the blacklist in memory and in Redis. Runs at once after a change.',
    };
    this.task = tasks.add(definition, () => this.runOnce());
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.tasks.isEnabled) return;
    // The blacklist is read before the first request is served. If the database is down, nothing can be sold, so we start anyway.
    await this.copies
      .refreshMemory()
      .catch((error: unknown) => this.logger.warn({ err: error }, 'starting without the blacklist'));
    this.subscriber = connectRedis(this.config.REDIS_URL, { name: 'blacklist', forJobs: true });
    this.subscriber.on('message', () => this.task.runSoon());
    // Messages sent while we were disconnected are lost, so refresh after each reconnect.
    this.subscriber.on('ready', () => this.task.runSoon());
    this.subscriber.subscribe(BLACKLIST_CHANNEL).catch(() => undefined);
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (this.subscriber) await closeRedis(this.subscriber);
  }

  /** Refreshes the copy in memory first, because that refresh does not need Redis. */
  async runOnce(): Promise<void> {
    await this.copies.refreshMemory();
    if (await this.copies.refreshRedis()) this.logger.info('the waiting room’s copy of the blacklist was written to Redis');
  }
}

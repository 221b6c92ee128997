import { BLACKLIST_CHANNEL } from '#contracts/queue-keys';
import type { Logger } from '#platform/logging/logger';
import { RelayLoop } from '#platform/outbox/relay-loop';
import { closeRedis, connectRedis, type RedisConnection } from '#platform/redis/redis-connection';
import { Inject, Injectable, type OnApplicationBootstrap, type BeforeApplicationShutdown } from '@nestjs/common';
import type { MonolithConfig } from '../../config.ts';
import { CONFIG, LOGGER, LOOPS } from '../../tokens.ts';
import { BlacklistBroadcast } from '../application/ports.ts';

/**
 * Keeps the list in mind, in every process: read at the start, again when somebody says that it has changed, and looked after
 * every second in case nobody could say so. The waiting room's copy is looked after in the same round.
 */
@Injectable()
export class BlacklistKeeper implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop: RelayLoop;
  private subscriber: RedisConnection | undefined;

  constructor(
    private readonly known: BlacklistBroadcast,
    @Inject(CONFIG) private readonly config: MonolithConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(LOOPS) private readonly loops: boolean,
  ) {
    this.loop = new RelayLoop('blacklist keeper', () => this.runOnce().then(() => 0), logger);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.loops) return;
    // Nobody is served before the list is known; without a database nobody is sold anything either.
    await this.known.look().catch((error: unknown) => this.logger.warn({ err: error }, 'starting without the blacklist'));
    this.subscriber = connectRedis(this.config.REDIS_URL, { name: 'blacklist', forJobs: true });
    this.subscriber.on('message', () => this.loop.nudge());
    // Whatever was said while nobody listened.
    this.subscriber.on('ready', () => this.loop.nudge());
    this.subscriber.subscribe(BLACKLIST_CHANNEL).catch(() => undefined);
    this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
    if (this.subscriber) await closeRedis(this.subscriber);
  }

  /** Memory first: it does not need Redis. */
  async runOnce(): Promise<void> {
    await this.known.look();
    if (await this.known.reflect()) this.logger.info('the waiting room was told the whole blacklist');
  }
}

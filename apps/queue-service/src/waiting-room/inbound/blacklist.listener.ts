import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { BLACKLIST_CHANNEL } from '#contracts/queue-keys';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { LOGGER, SUBSCRIBER } from '../../tokens.ts';
import { ClearListed } from '../application/clear-listed.ts';

/** How late we learn of a change nobody told us of. */
const LOOK_MS = 1000;

/** Keeps the blacklist in mind: read at the start, when the monolith says that it has changed, and looked after every second. */
@Injectable()
export class BlacklistListener implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private again = false;
  private isAway = false;

  constructor(
    private readonly clearListed: ClearListed,
    @Inject(SUBSCRIBER) private readonly subscriber: RedisConnection,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    // By pattern: its messages come by another door than those about lines, and neither listener has to read the other's.
    this.subscriber.on('pmessage', (pattern: string) => void (pattern === BLACKLIST_CHANNEL && this.look()));
    const subscribe = () => void this.subscriber.psubscribe(BLACKLIST_CHANNEL).catch(() => undefined);
    if (this.subscriber.status === 'ready') subscribe();
    else this.subscriber.once('ready', subscribe);
    this.timer = setInterval(() => void this.look(), LOOK_MS);
    // Nobody joins before the list is known; without Redis nobody joins anyway.
    await this.clearListed.learn().catch(() => undefined);
    void this.look();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** One at a time; what is said during a look is looked at after it. */
  private look(): Promise<void> {
    this.again = true;
    this.running ??= this.run().finally(() => (this.running = undefined));
    return this.running;
  }

  private async run(): Promise<void> {
    while (this.again) {
      this.again = false;
      try {
        const ended = await this.clearListed.runOnce();
        if (ended > 0) this.logger.info({ ended }, 'blacklisted fans were taken out of their lines');
        this.isAway = false;
      } catch (error) {
        if (!this.isAway) this.logger.warn({ err: error }, 'the blacklist cannot be read; what was known of it stands');
        this.isAway = true;
      }
    }
  }
}

import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { BLACKLIST_CHANNEL } from '#contracts/queue-keys';
import type { Logger } from '#platform/logging/logger';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { LOGGER, SUBSCRIBER } from '../../tokens.ts';
import { RemoveBlacklistedFans } from '../application/remove-blacklisted-fans.ts';

/** How often a pod reads the blacklist even without a publication. A change whose publication was lost is read within this time. */
const REFRESH_INTERVAL_MS = 1000;

/** Refreshes the pod's copy of the blacklist: at the start, when the monolith publishes a change, and every second. */
@Injectable()
export class BlacklistListener implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private refreshAgain = false;
  private isRedisDown = false;

  constructor(
    private readonly removeBlacklistedFans: RemoveBlacklistedFans,
    @Inject(SUBSCRIBER) private readonly subscriber: RedisConnection,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    // psubscribe, so that these messages arrive as 'pmessage' and PodsListener, which listens to 'message', does not see them.
    this.subscriber.on('pmessage', (pattern: string) => void (pattern === BLACKLIST_CHANNEL && this.refresh()));
    const subscribe = () => void this.subscriber.psubscribe(BLACKLIST_CHANNEL).catch(() => undefined);
    if (this.subscriber.status === 'ready') subscribe();
    else this.subscriber.once('ready', subscribe);
    this.timer = setInterval(() => void this.refresh(), REFRESH_INTERVAL_MS);
    // The blacklist is read before the pod accepts joins. Without Redis the read fails, but then no fan can join either.
    await this.removeBlacklistedFans.learn().catch(() => undefined);
    void this.refresh();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** Runs one refresh at a time. A change that is published during a refresh leads to one more refresh. */
  private refresh(): Promise<void> {
    this.refreshAgain = true;
    this.running ??= this.run().finally(() => (this.running = undefined));
    return this.running;
  }

  private async run(): Promise<void> {
    while (this.refreshAgain) {
      this.refreshAgain = false;
      try {
        const ended = await this.removeBlacklistedFans.runOnce();
        if (ended > 0) this.logger.info({ ended }, 'removed fans on the blacklist from their lines');
        this.isRedisDown = false;
      } catch (error) {
        if (!this.isRedisDown)
          this.logger.warn({ err: error }, 'the blacklist cannot be read; the last known list still applies');
        this.isRedisDown = true;
      }
    }
  }
}

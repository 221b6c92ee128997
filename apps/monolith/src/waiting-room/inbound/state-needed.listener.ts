import { QUEUE_EVENTS_CHANNEL, queueStateNeeded } from '#contracts/integration-events';
import type { Logger } from '#platform/logging/logger';
import { closeRedis, connectRedis, type RedisConnection } from '#platform/redis/redis-connection';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { MonolithConfig } from '../../config.ts';
import { CONFIG, LOGGER, LOOPS } from '../../tokens.ts';
import { RestoreQueue } from '../application/restore-queue.ts';

/** The waiting room asks again every second, so what is not begun now is heard again. Anybody can make it ask about any id. */
const MOST_AT_ONCE = 16;

/** Hears that the waiting room does not know a match, and restores it. */
@Injectable()
export class StateNeededListener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly subscriber: RedisConnection;
  private readonly running = new Map<string, Promise<void>>();
  private isStopping = false;

  constructor(
    private readonly restoreQueue: RestoreQueue,
    @Inject(CONFIG) config: MonolithConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(LOOPS) private readonly loops: boolean,
  ) {
    this.subscriber = connectRedis(config.REDIS_URL, { name: 'state-needed', forJobs: true });
  }

  onApplicationBootstrap(): void {
    if (!this.loops) return;
    this.subscriber.on('message', (_channel: string, message: string) => this.hear(message));
    // Not awaited: without Redis the monolith starts all the same, and the client subscribes when it is back.
    this.subscriber
      .subscribe(QUEUE_EVENTS_CHANNEL)
      .catch((error: unknown) => this.logger.warn({ err: error }, 'not subscribed to the waiting room'));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.running.values());
    await closeRedis(this.subscriber);
  }

  private hear(message: string): void {
    // The channel also carries every event of every line; only this one is for us.
    if (this.isStopping || !message.includes('queue.state_needed')) return;
    const matchId = matchIn(message);
    if (!matchId || this.running.has(matchId) || this.running.size >= MOST_AT_ONCE) return;
    this.running.set(
      matchId,
      this.restore(matchId).finally(() => this.running.delete(matchId)),
    );
  }

  private async restore(matchId: string): Promise<void> {
    const startedAt = performance.now();
    try {
      const wasNeeded = await this.restoreQueue.execute(matchId);
      if (!wasNeeded) return;
      const ms = Math.round(performance.now() - startedAt);
      this.logger.warn({ match_id: matchId, ms }, 'Redis did not know this queue: its state was restored');
    } catch (error) {
      this.logger.warn({ match_id: matchId, err: error }, 'the state of a queue was not restored; the waiting room asks again');
    }
  }
}

/** Undefined for a message that cannot be read: anybody who reaches Redis can publish. */
function matchIn(message: string): string | undefined {
  try {
    return queueStateNeeded.safeParse(JSON.parse(message)).data?.match_id;
  } catch {
    return undefined;
  }
}

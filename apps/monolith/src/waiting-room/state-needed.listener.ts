import { QUEUE_EVENTS_CHANNEL, queueStateNeeded } from '#contracts/integration-events';
import type { Logger } from '#platform/logging/logger';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { closeRedis, connectRedis, type RedisConnection } from '#platform/redis/redis-connection';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { CatalogApi } from '../catalog/catalog.api.ts';
import type { MonolithConfig } from '../config.ts';
import { CONFIG, LOGGER } from '../tokens.ts';
import { HttpWaitingRoom } from './http-waiting-room.ts';

/**
 * The most matches whose state is restored at the same time. A limit is needed because any client can make the waiting room ask
 * for any match id. A request above the limit is ignored: the waiting room repeats the request every second.
 */
const MAX_CONCURRENT_RESTORES = 16;

/** Restores the state of a match when the waiting room asks for it with the event `queue.state_needed`. */
@Injectable()
export class StateNeededListener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly subscriber: RedisConnection;
  private readonly running = new Map<string, Promise<void>>();
  private isStopping = false;

  constructor(
    private readonly catalog: CatalogApi,
    private readonly waitingRoom: HttpWaitingRoom,
    @Inject(CONFIG) config: MonolithConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly tasks: PeriodicTasks,
  ) {
    this.subscriber = connectRedis(config.REDIS_URL, { name: 'state-needed', forJobs: true });
  }

  onApplicationBootstrap(): void {
    if (!this.tasks.isEnabled) return;
    this.subscriber.on('message', (_channel: string, message: string) => this.handle(message));
    // We do not wait for the subscription, so that the monolith starts without Redis. The client subscribes once Redis is back.
    this.subscriber
      .subscribe(QUEUE_EVENTS_CHANNEL)
      .catch((error: unknown) => this.logger.warn({ err: error }, 'could not subscribe to the events of the waiting room'));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.running.values());
    await closeRedis(this.subscriber);
  }

  /**
   * Sends the waiting room the state of a match's queue if the waiting room does not know it, or reports that the match has no
   * queue. Returns true if it restored the state. If several replicas call it at the same time, only one of them restores.
   */
  async restore(matchId: string): Promise<boolean> {
    if (!(await this.catalog.match(matchId))?.queueRequired) {
      await this.waitingRoom.reportNoQueue(matchId);
      return false;
    }
    return this.waitingRoom.withQueueLock(matchId, async () => {
      const match = await this.catalog.match(matchId);
      return match ? this.waitingRoom.restoreIfUnknown(match) : false;
    });
  }

  private handle(message: string): void {
    // The channel carries all events of all lines. Only `queue.state_needed` is handled here.
    if (this.isStopping || !message.includes('queue.state_needed')) return;
    const matchId = matchIn(message);
    if (!matchId || this.running.has(matchId) || this.running.size >= MAX_CONCURRENT_RESTORES) return;
    this.running.set(
      matchId,
      this.answer(matchId).finally(() => this.running.delete(matchId)),
    );
  }

  private async answer(matchId: string): Promise<void> {
    const startedAt = performance.now();
    try {
      if (!(await this.restore(matchId))) return;
      const ms = Math.round(performance.now() - startedAt);
      this.logger.warn({ match_id: matchId, ms }, 'the waiting room did not know this queue; its state was restored');
    } catch (error) {
      this.logger.warn(
        { match_id: matchId, err: error },
        'the state of a queue could not be restored; the waiting room will ask again',
      );
    }
  }
}

/** The match id in a message. Undefined if the message is malformed: every client of Redis can publish on this channel. */
function matchIn(message: string): string | undefined {
  try {
    return queueStateNeeded.safeParse(JSON.parse(message)).data?.match_id;
  } catch {
    return undefined;
  }
}

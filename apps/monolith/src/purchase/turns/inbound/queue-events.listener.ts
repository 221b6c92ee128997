import { QUEUE_EVENTS_CHANNEL } from '#contracts/integration-events';
import type { Logger } from '#platform/logging/logger';
import type { PeriodicTask } from '#platform/schedule/periodic-task';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { closeRedis, connectRedis, type RedisConnection } from '#platform/redis/redis-connection';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { MonolithConfig } from '../../../config.ts';
import { CONFIG, LOGGER } from '../../../tokens.ts';
import { FollowWaitingRoom } from '../application/follow-waiting-room.ts';

/**
 * How often the streams of all matches are checked: the longest delay of an event whose message was lost. A turn must be stored
 * within 500 ms, in case Redis loses its data (CONTRACT §6), so 300 ms leave time for the transaction.
 */
const READ_ALL_INTERVAL_MS = 300;

/**
 * Reads the stream of a match at once when a message on `queue_events` names the match. Also checks the streams of all matches at
 * a fixed interval, in case a message was lost.
 */
@Injectable()
export class QueueEventsListener implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly announcedMatches = new Set<string>();
  private readonly subscriber: RedisConnection;
  private readonly task: PeriodicTask;
  private readAllAt = 0;

  constructor(
    private readonly followWaitingRoom: FollowWaitingRoom,
    @Inject(CONFIG) config: MonolithConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly tasks: PeriodicTasks,
  ) {
    this.subscriber = connectRedis(config.REDIS_URL, { name: 'queue-events', forJobs: true });
    const definition = {
      name: 'queue events',
      everyMs: READ_ALL_INTERVAL_MS,
      pausesAfterFailure: true,
      does: 'Reads the streams of the waiting room and stores turns. Runs at once after a message on `queue_events`.',
    };
    this.task = tasks.add(definition, () => this.readStreams());
  }

  onApplicationBootstrap(): void {
    if (!this.tasks.isEnabled) return;
    this.subscriber.on('message', (_channel: string, message: string) => this.onMessage(message));
    // Not awaited: the monolith also starts without Redis, and the client subscribes when Redis is back.
    this.subscriber
      .subscribe(QUEUE_EVENTS_CHANNEL)
      .catch((error: unknown) => this.logger.warn({ err: error }, 'not subscribed to the waiting room'));
  }

  async onApplicationShutdown(): Promise<void> {
    await closeRedis(this.subscriber);
  }

  private onMessage(message: string): void {
    const matchId = /"match_id":"([0-9a-f-]{36})"/.exec(message)?.[1];
    if (!matchId) return;
    this.announcedMatches.add(matchId);
    this.task.runSoon();
  }

  private async readStreams(): Promise<number> {
    const announcedMatches = [...this.announcedMatches];
    this.announcedMatches.clear();
    const isReadAllDue = Date.now() >= this.readAllAt;
    if (isReadAllDue) this.readAllAt = Date.now() + READ_ALL_INTERVAL_MS;
    const matches = isReadAllDue ? await this.followWaitingRoom.matchesWithNewEvents() : announcedMatches;
    let applied = 0;
    let failed: { error: unknown } | undefined;
    for (const matchId of matches) {
      try {
        applied += await this.followWaitingRoom.execute(matchId);
      } catch (error) {
        // One match whose events cannot be applied must not stop the matches after it.
        failed ??= { error };
      }
    }
    if (failed) throw failed.error;
    return applied;
  }
}

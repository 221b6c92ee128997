import { QUEUE_EVENTS_CHANNEL } from '#contracts/integration-events';
import type { Logger } from '#platform/logging/logger';
import { RelayLoop } from '#platform/outbox/relay-loop';
import { closeRedis, connectRedis, type RedisConnection } from '#platform/redis/redis-connection';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { MonolithConfig } from '../../../config.ts';
import { CONFIG, LOGGER, LOOPS } from '../../../tokens.ts';
import { FollowWaitingRoom } from '../application/follow-waiting-room.ts';

/**
 * How late an event is when its message was lost. A turn that is not stored by then is lost with Redis (CONTRACT §6: 500 ms), so
 * this leaves time for the transaction.
 */
const READ_ANYWAY_MS = 300;

/** Reads a match's stream whenever `queue_events` names it, and every match's stream regularly in case a message was lost. */
@Injectable()
export class QueueEventsListener implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly spokenOf = new Set<string>();
  private readonly subscriber: RedisConnection;
  private readonly loop: RelayLoop;
  private lookAtAllAt = 0;

  constructor(
    private readonly followWaitingRoom: FollowWaitingRoom,
    @Inject(CONFIG) config: MonolithConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(LOOPS) private readonly loops: boolean,
  ) {
    this.subscriber = connectRedis(config.REDIS_URL, { name: 'queue-events', forJobs: true });
    this.loop = new RelayLoop('queue events', () => this.round(), logger, READ_ANYWAY_MS);
  }

  onApplicationBootstrap(): void {
    if (!this.loops) return;
    this.subscriber.on('message', (_channel: string, message: string) => this.hear(message));
    // Not awaited: without Redis the monolith starts all the same, and the client subscribes when it is back.
    this.subscriber
      .subscribe(QUEUE_EVENTS_CHANNEL)
      .catch((error: unknown) => this.logger.warn({ err: error }, 'not subscribed to the waiting room'));
    this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
    await closeRedis(this.subscriber);
  }

  private hear(message: string): void {
    const matchId = /"match_id":"([0-9a-f-]{36})"/.exec(message)?.[1];
    if (!matchId) return;
    this.spokenOf.add(matchId);
    this.loop.nudge();
  }

  private async round(): Promise<number> {
    const spokenOf = [...this.spokenOf];
    this.spokenOf.clear();
    const all = Date.now() >= this.lookAtAllAt;
    if (all) this.lookAtAllAt = Date.now() + READ_ANYWAY_MS;
    const matches = all ? await this.followWaitingRoom.unread() : spokenOf;
    let applied = 0;
    let failed: { error: unknown } | undefined;
    for (const matchId of matches) {
      try {
        applied += await this.followWaitingRoom.execute(matchId);
      } catch (error) {
        // A match whose events cannot be applied must not keep those after it from theirs.
        failed ??= { error };
      }
    }
    if (failed) throw failed.error;
    return applied;
  }
}

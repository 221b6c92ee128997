import type { Logger } from '#platform/logging/logger';
import { RelayLoop } from '#messaging/outbox/relay-loop';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { CatalogApi, type CatalogMatch } from '../../catalog/catalog.api.ts';
import { LOGGER, LOOPS } from '../../tokens.ts';
import { WaitingRoomApi } from '../waiting-room.api.ts';

/** The time between two comparisons. After a loss of Redis, a queue is unknown to the waiting room for at most this time. */
const POLL_INTERVAL_MS = 5000;
const MAX_MATCHES = 1000;

/**
 * Compares the waiting room with the catalogue. Sends the waiting room every queue that it does not know, because Redis may lose
 * its data, and every queue of a sold-out match that it still keeps open: after a long outage the outbox may wait a minute before
 * it retries the message about a sold-out match.
 */
@Injectable()
export class QueueKeeper implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: RelayLoop;

  constructor(
    private readonly catalog: CatalogApi,
    private readonly waitingRoom: WaitingRoomApi,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(LOOPS) private readonly loops: boolean,
  ) {
    this.loop = new RelayLoop('queue keeper', () => this.runOnce().then(() => 0), logger, POLL_INTERVAL_MS);
  }

  onApplicationBootstrap(): void {
    if (this.loops) this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  /** Compares all queues once. Returns the number of queues that it sent. */
  async runOnce(): Promise<number> {
    const matches = await this.catalog.running(MAX_MATCHES);
    let sent = 0;
    for (const match of matches) {
      if (!match.queueRequired || !(await this.isBehind(match))) continue;
      await this.waitingRoom.withQueueLock(match.id, async () => {
        const now = await this.catalog.match(match.id);
        if (now) await this.waitingRoom.sync(now);
      });
      this.logger.warn({ match_id: match.id }, 'the waiting room did not know the state of this queue; it was sent');
      sent += 1;
    }
    return sent;
  }

  private async isBehind({ id, saleStatus }: CatalogMatch): Promise<boolean> {
    const status = await this.waitingRoom.queueStatus(id);
    if (status === undefined) return false;
    return status === 'unknown' || (saleStatus === 'sold_out' && status !== 'closed');
  }
}

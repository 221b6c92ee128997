import type { Logger } from '#platform/logging/logger';
import type { TaskDefinition } from '#platform/schedule/periodic-task';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Inject, Injectable } from '@nestjs/common';
import { CatalogApi, type CatalogMatch } from '../catalog/catalog.api.ts';
import { LOGGER } from '../tokens.ts';
import { WaitingRoomApi } from './waiting-room.api.ts';

const QUEUE_KEEPER: TaskDefinition = {
  name: 'queue keeper',
  // After a loss of Redis, a queue is unknown to the waiting room for at most this time.
  everyMs: 5000,
  pausesAfterFailure: true,
  does: 'Sends the waiting room every queue that it does not know, and every queue of a sold-out match that it still keeps open.',
};
const MAX_MATCHES = 1000;

/**
 * Compares the waiting room with the catalogue. Sends the waiting room every queue that it does not know, because Redis may lose
 * its data, and every queue of a sold-out match that it still keeps open: after a long outage the outbox may wait a minute before
 * it retries the message about a sold-out match.
 */
@Injectable()
export class QueueKeeper {
  constructor(
    private readonly catalog: CatalogApi,
    private readonly waitingRoom: WaitingRoomApi,
    @Inject(LOGGER) private readonly logger: Logger,
    tasks: PeriodicTasks,
  ) {
    tasks.add(QUEUE_KEEPER, async () => void (await this.runOnce()));
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

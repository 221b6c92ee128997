import type { Logger } from '#platform/logging/logger';
import { RelayLoop } from '#platform/outbox/relay-loop';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { CatalogApi, type CatalogMatch } from '../../catalog/catalog.api.ts';
import { LOGGER, LOOPS } from '../../tokens.ts';
import { WaitingRoomApi } from '../waiting-room.api.ts';

/** How long fans of a match meet an unknown queue after Redis lost everything. */
const POLL_EVERY_MS = 5000;
const MATCHES = 1000;

/**
 * Tells the waiting room of queues it no longer knows (Redis may lose everything, and PostgreSQL knows what is for sale), and of
 * sold-out ones that it still keeps open: after it was down for long their message may rest for a minute.
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
    this.loop = new RelayLoop('queue keeper', () => this.runOnce().then(() => 0), logger, POLL_EVERY_MS);
  }

  onApplicationBootstrap(): void {
    if (this.loops) this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  /** Returns how many queues were told again. */
  async runOnce(): Promise<number> {
    const matches = await this.catalog.running(MATCHES);
    let told = 0;
    for (const match of matches) {
      if (!match.queueRequired || !(await this.isBehind(match))) continue;
      await this.waitingRoom.exclusively(match.id, async () => {
        const now = await this.catalog.match(match.id);
        if (now) await this.waitingRoom.tell(now);
      });
      this.logger.warn({ match_id: match.id }, 'the waiting room did not know this queue and was told of it');
      told += 1;
    }
    return told;
  }

  private async isBehind({ id, saleStatus }: CatalogMatch): Promise<boolean> {
    const known = await this.waitingRoom.look(id);
    if (known === undefined) return false;
    return known === 'unknown' || (saleStatus === 'sold_out' && known !== 'closed');
  }
}

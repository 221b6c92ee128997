import { Metrics } from '#platform/health/metrics';
import type { Logger } from '#platform/logging/logger';
import { RelayLoop } from '#platform/outbox/relay-loop';
import { Leadership } from '#platform/postgres/leadership';
import { Inject, Injectable, type OnApplicationBootstrap, type BeforeApplicationShutdown } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { CatalogApi } from '../../catalog/catalog.api.ts';
import { LOGGER, LOOPS } from '../../tokens.ts';
import { FollowSale, type Followed } from '../application/follow-sale.ts';
import type { Told } from '../application/tell-what-is-left.ts';

const MATCHES = 1000;
/** With a count that is a second old the waiting room hears within two seconds that a sector is gone or back (CONTRACT §6). */
const POLL_MS = 500;
/** A sale whose numbers do not move, with nobody waiting and no end in sight, is looked at so rarely. */
const QUIET_MS = 3000;
/** Faster than fans pay by any measurement of ours. A sale without a line of fans has no news for anybody before it can be over. */
const MOST_SOLD_PER_SECOND = 5000;
const LONGEST_MS = 10_000;
/** The bound is said again though it did not change: the waiting room may have lost it, or heard another in between. */
const SAY_AGAIN_MS = 10_000;

interface Watched {
  readonly lookAt: number;
  readonly sayAgainAt: number;
  readonly numbers: string;
  readonly told: Told;
}

/**
 * The eye on every sale: twice a second it looks at what is left, tells the waiting room, and has the sale ended or opened again.
 * One replica does it for all; when it is gone another goes on, within a second, or 15 when it is frozen.
 */
@Injectable()
export class SaleWatch implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop: RelayLoop;
  private watched = new Map<string, Watched>();
  private isLeading = false;

  constructor(
    private readonly leadership: Leadership,
    private readonly catalog: CatalogApi,
    private readonly followSale: FollowSale,
    { registry }: Metrics,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(LOOPS) private readonly loops: boolean,
  ) {
    this.loop = new RelayLoop('sale watch', () => this.runOnce().then(() => 0), logger, POLL_MS);
    const leading: Gauge = new Gauge({
      name: 'sale_watch_leading',
      help: 'Whether this process watches the sales: one of all replicas does.',
      registers: [registry],
      collect: () => leading.set(this.isLeading ? 1 : 0),
    });
  }

  onApplicationBootstrap(): void {
    if (this.loops) this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
    await this.leadership.giveUp();
  }

  /** Looks at every sale that is due; false when another process does that. */
  async runOnce(): Promise<boolean> {
    this.isLeading = await this.leadership.isMine();
    const before = this.watched;
    // Whoever led meanwhile has told other things: nothing is remembered from before.
    this.watched = new Map();
    if (!this.isLeading) return false;
    let isListening = true;
    for (const match of await this.catalog.running(MATCHES)) {
      const last = before.get(match.id);
      const now = performance.now();
      if (last && now < last.lookAt) {
        this.watched.set(match.id, last);
        continue;
      }
      const saysAgain = !last || now >= last.sayAgainAt;
      const told = saysAgain ? { remaining: last?.told.remaining } : last.told;
      const followed = await this.followSale.execute(match, isListening ? told : undefined);
      // One that does not answer costs 3 s a call; sales are not kept waiting for it.
      if (followed.failure !== undefined) isListening = false;
      this.report(match, followed);
      this.watched.set(match.id, watchedFrom(followed, last, { now, saysAgain }));
    }
    return true;
  }

  private report(match: { id: string; saleStatus: string }, { status, failure }: Followed): void {
    if (status !== match.saleStatus) this.logger.info({ match_id: match.id, status }, 'the sale changed by itself');
    if (failure !== undefined)
      this.logger.warn({ match_id: match.id, err: failure }, 'the waiting room was not told what is left');
  }
}

function watchedFrom(
  { status, left, told }: Followed,
  last: Watched | undefined,
  at: { now: number; saysAgain: boolean },
): Watched {
  const numbers = JSON.stringify([status, left]);
  const isAlmostOver = status === 'open' && left.free === 0;
  const someoneWaits = told.usefulWindows !== undefined && status !== 'scheduled';
  const isQuiet = numbers === last?.numbers && !isAlmostOver && !someoneWaits;
  const isFarFromOver = !someoneWaits && left.free + left.held >= MOST_SOLD_PER_SECOND;
  const restMs = isFarFromOver ? Math.min(((left.free + left.held) / MOST_SOLD_PER_SECOND) * 1000, LONGEST_MS) : 0;
  return {
    lookAt: at.now + Math.max(restMs, isQuiet ? QUIET_MS : 0),
    sayAgainAt: !last || at.saysAgain ? at.now + SAY_AGAIN_MS : last.sayAgainAt,
    numbers,
    told,
  };
}

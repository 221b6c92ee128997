import { Metrics } from '#platform/health/metrics';
import type { Logger } from '#platform/logging/logger';
import type { TaskDefinition } from '#platform/schedule/periodic-task';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Leadership } from '#platform/postgres/leadership';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { CatalogApi } from '../catalog/catalog.api.ts';
import { LOGGER } from '../tokens.ts';
import { CheckSale, type SaleCheckResult, type SentReport } from './check-sale.ts';

const MAX_MATCHES = 1000;
const SALE_WATCH: TaskDefinition = {
  name: 'sale watch',
  // CONTRACT §6: the waiting room learns within 2 s that a sector sold out or has seats again. The count of the seats may already
  // be one second old.
  everyMs: 500,
  pausesAfterFailure: true,
  does: 'On one replica: counts the remaining seats of the sales, tells the waiting room, and ends or reopens sales.',
};
/**
 * The time between two checks of a sale that has no line, is not about to sell out and whose numbers did not change since the
 * last check.
 */
const QUIET_INTERVAL_MS = 3000;
/**
 * An upper bound for the seats sold per second, higher than any rate we measured. A sale without a line is checked again when it
 * could be sold out at this rate, at the latest after MAX_INTERVAL_MS, because no fan in line has to be informed.
 */
const MAX_SOLD_PER_SECOND = 5000;
const MAX_INTERVAL_MS = 10_000;
/**
 * The number of useful windows is sent again after this time even if unchanged: Redis may have lost it, or a call of another
 * process may have replaced it.
 */
const RESEND_INTERVAL_MS = 10_000;

interface WatchedSale {
  readonly nextCheckAt: number;
  readonly resendAt: number;
  readonly numbers: string;
  readonly sent: SentReport;
}

/**
 * Twice a second, checks every sale whose next check is due: counts the remaining seats, tells the waiting room, and ends or
 * reopens the sale. One replica (the leader) does this for all replicas. If it stops, another one takes over within a second, or
 * within 15 s if it is frozen.
 */
@Injectable()
export class SaleWatch implements BeforeApplicationShutdown {
  private watched = new Map<string, WatchedSale>();
  private isLeading = false;

  constructor(
    private readonly leadership: Leadership,
    private readonly catalog: CatalogApi,
    private readonly checkSale: CheckSale,
    { registry }: Metrics,
    @Inject(LOGGER) private readonly logger: Logger,
    tasks: PeriodicTasks,
  ) {
    tasks.add(SALE_WATCH, async () => void (await this.runOnce()));
    const leading: Gauge = new Gauge({
      name: 'sale_watch_leading',
      help: '1 if this process watches the sales. Exactly one of all replicas does.',
      registers: [registry],
      collect: () => leading.set(this.isLeading ? 1 : 0),
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.leadership.giveUp();
  }

  /** Checks every sale whose next check is due. Returns false if another process is the leader. */
  async runOnce(): Promise<boolean> {
    this.isLeading = await this.leadership.isLeader();
    const before = this.watched;
    // Forget what we reported: if we are not the leader, another process sends reports that we do not know.
    this.watched = new Map();
    if (!this.isLeading) return false;
    let isReachable = true;
    for (const match of await this.catalog.running(MAX_MATCHES)) {
      const last = before.get(match.id);
      const now = performance.now();
      if (last && now < last.nextCheckAt) {
        this.watched.set(match.id, last);
        continue;
      }
      const isResendDue = !last || now >= last.resendAt;
      const lastSent = isResendDue ? { sectors: last?.sent.sectors } : last.sent;
      const result = await this.checkSale.execute(match, isReachable ? lastSent : undefined);
      // A waiting room that does not answer costs 3 s per call, so the other sales are checked without calling it.
      if (result.failure !== undefined) isReachable = false;
      this.log(match, result);
      this.watched.set(match.id, nextState(result, last, { now, isResendDue }));
    }
    return true;
  }

  private log(match: { id: string; saleStatus: string }, { status, failure }: SaleCheckResult): void {
    if (status !== match.saleStatus)
      this.logger.info({ match_id: match.id, status }, 'the sale watch changed the status of a sale');
    if (failure !== undefined)
      this.logger.warn({ match_id: match.id, err: failure }, 'the waiting room was not told the remaining seats');
  }
}

/** Decides when a sale is checked next, and when its useful windows are sent again. */
function nextState(
  { status, remaining, sent }: SaleCheckResult,
  last: WatchedSale | undefined,
  { now, isResendDue }: { now: number; isResendDue: boolean },
): WatchedSale {
  const numbers = JSON.stringify([status, remaining]);
  const unsold = remaining.free + remaining.held;
  const isAlmostSoldOut = status === 'open' && remaining.free === 0;
  const hasActiveQueue = sent.usefulWindows !== undefined && status !== 'scheduled';
  const isQuiet = numbers === last?.numbers && !isAlmostSoldOut && !hasActiveQueue;
  const isFarFromSoldOut = !hasActiveQueue && unsold >= MAX_SOLD_PER_SECOND;
  const waitMs = isFarFromSoldOut ? Math.min((unsold / MAX_SOLD_PER_SECOND) * 1000, MAX_INTERVAL_MS) : 0;
  return {
    nextCheckAt: now + Math.max(waitMs, isQuiet ? QUIET_INTERVAL_MS : 0),
    resendAt: !last || isResendDue ? now + RESEND_INTERVAL_MS : last.resendAt,
    numbers,
    sent,
  };
}

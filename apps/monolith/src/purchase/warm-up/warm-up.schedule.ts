import type { Logger } from '#platform/logging/logger';
import type { TaskDefinition } from '#platform/schedule/periodic-task';
import type { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import type { CatalogApi, CatalogMatch } from '../../catalog/catalog.api.ts';
import type { WarmUp } from '../../tokens.ts';
import type { RehearsedHolds } from './rehearsed-holds.ts';
import type { RehearsedPurchases } from './rehearsed-purchases.ts';
import type { RehearsedRequests } from './rehearsed-requests.ts';
import type { SaleSectors } from './sale-sectors.ts';

const TASK: TaskDefinition = {
  name: 'warm-up',
  everyMs: 5000,
  does: 'Loads the sectors of sales that have opened in the last 10 minutes or open in the next 5, and rehearses purchases: at the start, and again in the last half minute before a sale opens.',
};
const MAX_MATCHES = 1000;
const LOADED_BEFORE_MS = 5 * 60_000;
const LOADED_AFTER_MS = 10 * 60_000;
const REHEARSED_BEFORE_MS = 30_000;

/**
 * How much is rehearsed. PostgreSQL plans a prepared statement anew for its first five executions on each connection, and V8
 * compiles a function that was called some hundred times (bench/experiments.md).
 */
const AT_START = { holdRounds: 8, requests: 1600, batches: 8 };
/** The code is compiled; only connections may be new. */
const BEFORE_A_SALE = { holdRounds: 1, requests: 64, batches: 6 };

/**
 * Prepares this process for sales, so that the first buyers do not wait for it. Nothing that it does has an effect: holds are asked
 * for where there are no seats, purchases are rolled back, requests change nothing.
 */
export class WarmUpSchedule {
  private readonly rehearsedSales = new Set<string>();

  constructor(
    tasks: PeriodicTasks,
    private readonly warmUp: WarmUp,
    private readonly rehearsed: {
      readonly holds: RehearsedHolds;
      readonly purchases: RehearsedPurchases;
      readonly requests: RehearsedRequests;
    },
    private readonly catalog: CatalogApi,
    private readonly sectors: SaleSectors,
    private readonly logger: Logger,
  ) {
    tasks.add(TASK, () => (warmUp.isEnabled ? this.runOnce(Date.now()) : undefined));
  }

  async runOnce(now: number): Promise<void> {
    const startedAt = performance.now();
    const running = (await this.catalog.running(MAX_MATCHES)).filter(({ opensAt }) => opensAt);
    const opensIn = ({ opensAt }: CatalogMatch): number => opensAt!.getTime() - now;
    const current = running.filter((match) => opensIn(match) < LOADED_BEFORE_MS && opensIn(match) > -LOADED_AFTER_MS);
    await this.sectors.load(current.map(({ id }) => id));
    const opening = running.filter((match) => opensIn(match) < REHEARSED_BEFORE_MS && opensIn(match) > 0);
    const isNew = opening.filter(({ id }) => !this.rehearsedSales.has(id)).length > 0;
    for (const { id } of opening) this.rehearsedSales.add(id);
    if (!this.warmUp.isDone) await this.rehearse(AT_START);
    else if (isNew) await this.rehearse(BEFORE_A_SALE);
    else return;
    this.warmUp.isDone = true;
    this.logger.info({ ms: Math.round(performance.now() - startedAt) }, 'warmed up');
  }

  private async rehearse({ holdRounds, requests, batches }: typeof AT_START): Promise<void> {
    const { rehearsed } = this;
    await rehearsed.holds.run(holdRounds);
    await rehearsed.purchases.run(batches);
    await rehearsed.requests.run(requests);
  }
}

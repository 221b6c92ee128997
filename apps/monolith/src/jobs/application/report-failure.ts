import type { Clock } from '#application/clock';
import type { Jobs } from '#application/jobs';
import type { TransactionManager } from '#application/transaction-manager';
import { failedJobAlert, type AlertWay } from '#domain/notification/alert-operators';

/** A class of jobs that fails by the hundred is one alert a minute. */
const QUIET_MS = 60_000;

/** Has operators told that a job failed for good. */
export class ReportFailure {
  private readonly lastTold = new Map<string, number>();

  constructor(
    private readonly transactions: TransactionManager,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    private readonly ways: readonly AlertWay[],
  ) {}

  async execute(job: { id: string; class: string }): Promise<void> {
    const now = this.clock.now();
    if (now.getTime() - (this.lastTold.get(job.class) ?? 0) < QUIET_MS) return;
    this.lastTold.set(job.class, now.getTime());
    await this.transactions.run((tx) => this.jobs.put(tx, failedJobAlert(job, this.ways, now)));
  }
}

import type { Logger } from '#platform/logging/logger';
import type { JobLedger, JobRow } from './job-ledger.ts';
import type { JobTransport } from './job-transport.ts';

/** Age in seconds from which open jobs are checked. It is longer than the relay needs to bring a job to the transport. */
const OVERDUE_SECONDS = 60;
const BATCH_SIZE = 500;

/**
 * Repairs differences between the job ledger (the table `jobs`) and the transport (BullMQ). An open job that the transport does
 * not know was lost (Redis was wiped, or another transport was configured) and is added again. A job that failed in the transport
 * while PostgreSQL was unavailable is marked as failed in the ledger. Adding a job that was not lost is safe: a job is marked as
 * done in the transaction of its effect, so the effect happens once.
 */
export class JobUpkeep {
  constructor(
    private readonly ledger: JobLedger,
    private readonly transport: JobTransport,
    private readonly logger: Logger,
    private readonly overdueSeconds = OVERDUE_SECONDS,
  ) {}

  /** Returns the number of repaired jobs. */
  async runOnce(): Promise<number> {
    let [corrected, after] = [0, undefined as string | undefined];
    for (;;) {
      const open = await this.ledger.open(this.overdueSeconds, BATCH_SIZE, after);
      corrected += await this.compare(open);
      if (open.length < BATCH_SIZE) break;
      after = open.at(-1)?.id;
    }
    await this.ledger.purgeOnce();
    return corrected;
  }

  private async compare(open: readonly JobRow[]): Promise<number> {
    if (open.length === 0) return 0;
    const states = await this.transport.states(open.map(({ id }) => id));
    const lost = open.filter(({ id }) => !states.has(id));
    await this.transport.add(lost);
    if (lost.length > 0)
      this.logger.warn({ jobs: lost.length, transport: this.transport.name }, 'jobs were lost and added again');
    const failed = open.filter(({ id }) => states.get(id) === 'failed');
    for (const { id } of failed) await this.ledger.setAside(id, this.transport.name);
    // A job that is completed in the transport but open in the ledger: the database was restored from a backup, so the job must
    // run a second time.
    const completed = open.filter(({ id }) => states.get(id) === 'completed');
    await this.transport.remove(completed.map(({ id }) => id));
    await this.transport.add(completed);
    return lost.length + failed.length + completed.length;
  }
}

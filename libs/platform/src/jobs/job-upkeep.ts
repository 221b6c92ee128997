import type { Logger } from '../logging/logger.ts';
import type { JobLedger, JobRow } from './job-ledger.ts';
import type { JobTransport } from './job-transport.ts';

/** Longer than the relay needs to bring a job to its transport, shorter than anybody's patience. */
const OVERDUE_SECONDS = 60;
const BATCH = 500;

/**
 * Compares what the ledger says with what the transport knows. A job that is not done and that the transport does not know was
 * lost with it (Redis was wiped, or another transport was chosen): it is added again. One that failed there while PostgreSQL was
 * away is set aside. Doing a job twice is not to be feared: it is finished in the transaction of its effect.
 */
export class JobUpkeep {
  constructor(
    private readonly ledger: JobLedger,
    private readonly transport: JobTransport,
    private readonly logger: Logger,
    private readonly overdueSeconds = OVERDUE_SECONDS,
  ) {}

  /** How many jobs it had to set right. */
  async runOnce(): Promise<number> {
    let [corrected, after] = [0, undefined as string | undefined];
    for (;;) {
      const open = await this.ledger.open(this.overdueSeconds, BATCH, after);
      corrected += await this.compare(open);
      if (open.length < BATCH) break;
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
    // It ended there without its effect being here: its database was set back. The mark there is worth nothing.
    const ended = open.filter(({ id }) => states.get(id) === 'completed');
    await this.transport.remove(ended.map(({ id }) => id));
    await this.transport.add(ended);
    return lost.length + failed.length + ended.length;
  }
}

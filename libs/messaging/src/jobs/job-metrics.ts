import { Gauge, type Registry } from 'prom-client';
import type { JobLedger } from './job-ledger.ts';

type Counts = Awaited<ReturnType<JobLedger['counts']>>;

/** Registers the gauges of general background jobs. A metrics scrape reads the table `jobs` once for both gauges. */
export function observeJobs(registry: Registry, ledger: JobLedger): void {
  let reading: Promise<Counts | undefined> | undefined;
  const read = (): Promise<Counts | undefined> =>
    (reading ??= ledger
      .counts()
      .catch(() => undefined)
      .finally(() => (reading = undefined)));
  new Gauge({
    name: 'background_jobs',
    help: 'General background jobs that are not done (open) or failed for good (failed).',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const counts = await read();
      if (!counts) return;
      this.set({ state: 'open' }, counts.open);
      this.set({ state: 'failed' }, counts.failed);
    },
  });
  new Gauge({
    name: 'background_jobs_oldest_seconds',
    help: 'Age of the oldest general background job that is not done.',
    registers: [registry],
    async collect() {
      const counts = await read();
      if (counts) this.set(counts.oldestSeconds);
    },
  });
}

import type { Registry } from 'prom-client';
import { registerGauges } from '#platform/health/gauges';
import type { JobLedger } from './job-ledger.ts';

/** Registers the gauges of general background jobs. */
export function observeJobs(registry: Registry, ledger: JobLedger): void {
  registerGauges(registry, () => ledger.counts(), [
    {
      name: 'background_jobs',
      help: 'General background jobs that are not done (open) or failed for good (failed).',
      labels: ['state'],
      values: ({ open, failed }) => [
        [open, { state: 'open' }],
        [failed, { state: 'failed' }],
      ],
    },
    {
      name: 'background_jobs_oldest_seconds',
      help: 'Age of the oldest general background job that is not done.',
      values: ({ oldestSeconds }) => [[oldestSeconds]],
    },
  ]);
}

import { quantile } from '../instruments/quantiles.ts';
import type { Read } from './reads.ts';

const CALLS = 10;

/** How long a read takes, from its request to its whole answer. */
export interface ReadLatency {
  readonly url: string;
  readonly p50Ms: number;
  readonly maxMs: number;
}

/** Calls each read several times, one call at a time, after one call that is not measured. Throws if a read fails. */
export async function measureReads(serviceUrl: string, reads: readonly Read[]): Promise<ReadLatency[]> {
  const latencies: ReadLatency[] = [];
  for (const read of reads) {
    const times: number[] = [];
    for (let call = 0; call <= CALLS; call += 1) times.push(await timeOf(serviceUrl, read));
    const sorted = times.slice(1).toSorted((a, b) => a - b);
    latencies.push({ url: read.url, p50Ms: quantile(sorted, 0.5), maxMs: sorted.at(-1)! });
  }
  return latencies;
}

async function timeOf(serviceUrl: string, { url, by }: Read): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(`${serviceUrl}/api/v1${url}`, { headers: { 'x-mock-user-id': by.as, ...by.headers } });
  const text = await answer.text();
  if (answer.status !== 200 && answer.status !== 404) throw new Error(`GET ${url}: ${answer.status} ${text.slice(0, 200)}`);
  return performance.now() - startedAt;
}

import { quantile } from '../instruments/quantiles.ts';
import type { MatchToSell } from './stadiums.ts';

/** Median times of the availability reads, by one reader, on a match of 40,000 seats of which some were just sold. */
export interface AvailabilityTimes {
  /** Reading the number of free seats of all sectors of the match. */
  readonly sectorsMs: number;
  /** Reading all seats of one sector of 2,000. */
  readonly seatsMs: number;
}

const READS = 15;

/** Measures how long the reads of free seats take at this URL, with one reader. */
export async function readAvailability(url: string, { id, sectorIds }: MatchToSell): Promise<AvailabilityTimes> {
  const match = `${url}/api/v1/matches/${id}`;
  return {
    sectorsMs: await medianTime(`${match}/sectors`),
    seatsMs: await medianTime(`${match}/sectors/${sectorIds[0]}/seats`),
  };
}

async function medianTime(url: string): Promise<number> {
  const times: number[] = [];
  for (let read = 0; read < READS; read += 1) {
    const from = performance.now();
    const answer = await fetch(url);
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`GET ${url} was answered ${answer.status}`);
    times.push(performance.now() - from);
  }
  return quantile(
    times.toSorted((a, b) => a - b),
    0.5,
  );
}

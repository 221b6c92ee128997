import { quantile } from '../instruments/quantiles.ts';
import type { MatchToSell } from './stadiums.ts';

/** Milliseconds, one reader at a time, on a match of 40,000 seats that has just been sold from. */
export interface AvailabilityRead {
  /** What is free in each sector of the match. */
  readonly sectorsMs: number;
  /** Every seat of one sector of 2,000. */
  readonly seatsMs: number;
}

const TIMES = 15;

export async function readAvailability(url: string, { id, sectorIds }: MatchToSell): Promise<AvailabilityRead> {
  const match = `${url}/api/v1/matches/${id}`;
  return {
    sectorsMs: await medianTime(`${match}/sectors`),
    seatsMs: await medianTime(`${match}/sectors/${sectorIds[0]}/seats`),
  };
}

async function medianTime(url: string): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
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

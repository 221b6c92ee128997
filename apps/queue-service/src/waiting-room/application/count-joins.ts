import type { JoinCounts } from './ports.ts';

/** An address with at least so many joins that are not reported yet is always reported, others only in their turn. */
const MANY_JOINS = 10;
/** How many of the other addresses of a match one report contains: at the opening of a sale Redis has better things to do. */
const MAX_REPORTED = 2000;
/** The largest number of addresses that wait for a report. Joins of further addresses are not counted. */
const MAX_WAITING = 100_000;

/**
 * Counts the joins that this pod answers in the first minute after an opening, by address. A join only changes a number in memory; once
 * a second the numbers are added to those of the other pods.
 */
export class CountJoins {
  private readonly waiting = new Map<string, Map<string, number>>();

  constructor(private readonly counts: JoinCounts) {}

  note(matchId: string, address: string): void {
    let joins = this.waiting.get(matchId);
    if (!joins) this.waiting.set(matchId, (joins = new Map()));
    const known = joins.get(address);
    if (known !== undefined || joins.size < MAX_WAITING) joins.set(address, (known ?? 0) + 1);
  }

  /** Adds waiting numbers to those of all pods. Joins of a report that fails are lost: counted twice they could raise a false alert. */
  async report(): Promise<void> {
    for (const [matchId, joins] of this.waiting) {
      const reported: [string, number][] = [];
      let others = 0;
      for (const [address, count] of joins) {
        if (count < MANY_JOINS && (others += 1) > MAX_REPORTED) continue;
        reported.push([address, count]);
        joins.delete(address);
      }
      if (joins.size === 0) this.waiting.delete(matchId);
      await this.counts.add(matchId, reported);
    }
  }
}

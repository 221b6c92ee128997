import type { FreePlace } from '../../purchase/quota-places.api.ts';
import { betterEnd, compareCosts, rowsOf, type Run } from '../tree/choose-places.ts';

/** The places of an invitation: of one sector, side by side if that is possible. */
export interface Block {
  readonly sectorId: string;
  readonly places: readonly FreePlace[];
}

/**
 * The free places of a quota, as runs of neighbours. The invitations of a list take their places from it one after the other. Each
 * of them reads only the runs, so a list of 500 takes milliseconds.
 */
export class FreeBlocks {
  private readonly runsOfSector: ReadonlyMap<string, Run[]>;

  constructor(free: readonly FreePlace[]) {
    const bySector = Map.groupBy(free, ({ sectorId }) => sectorId);
    this.runsOfSector = new Map([...bySector].map(([sectorId, places]) => [sectorId, runsOf(places)]));
  }

  left(sectorId: string): number {
    return this.runs(sectorId).reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * Takes places of one of these sectors: of the first one that has them side by side, else of the first one that has enough.
   * Undefined if none has enough; then nothing is taken.
   */
  take(sectorIds: readonly string[], quantity: number): Block | undefined {
    const hasRun = (id: string): boolean => this.runs(id).some(({ length }) => length >= quantity);
    const sectorId = sectorIds.find(hasRun) ?? sectorIds.find((id) => this.left(id) >= quantity);
    return sectorId === undefined ? undefined : { sectorId, places: this.takeOf(this.runs(sectorId), quantity) };
  }

  /** If no run has enough, the longest run is taken whole, and the rest near it. */
  private takeOf(runs: Run[], quantity: number): readonly FreePlace[] {
    const taken: FreePlace[] = [];
    while (taken.length < quantity) {
      const missing = quantity - taken.length;
      const run = best(runs, missing, taken[0]?.rowIndex);
      const part = betterEnd(run, Math.min(missing, run.length));
      const isStart = part[0] === run[0];
      const rest = isStart ? run.slice(part.length) : run.slice(0, run.length - part.length);
      runs.splice(runs.indexOf(run), 1, ...(rest.length > 0 ? [rest] : []));
      taken.push(...part);
    }
    return taken;
  }

  private runs(sectorId: string): Run[] {
    return this.runsOfSector.get(sectorId) ?? [];
  }
}

/** Standing places have no neighbours: all of a sector are one run, the better places first. */
function runsOf(places: readonly FreePlace[]): Run[] {
  if (places[0]?.number === null) return [[...places].sort((a, b) => a.rank - b.rank)];
  return rowsOf(places).flatMap(({ runs }) => runs);
}

/** The run to take places of, for an invitation that has places in the row `near` already. */
function best(runs: readonly Run[], missing: number, near: number | undefined): Run {
  /*
   * Of the runs that have enough: the nearest, then one of which no single place is left, then the shortest, so that longer ones
   * stay whole, then the better places. Of the others the longest.
   */
  const costOf = (run: Run): readonly number[] => {
    const { rowIndex = 0, rank = 0 } = run[0] ?? {};
    const distance = near === undefined ? 0 : Math.abs(rowIndex - near);
    const left = run.length - missing;
    return left >= 0 ? [0, distance, left === 1 ? 1 : 0, left, rank] : [1, -run.length, distance, rank, 0];
  };
  const candidates = runs.map((run) => ({ run, cost: costOf(run) }));
  return candidates.reduce((a, b) => (compareCosts(b.cost, a.cost) < 0 ? b : a)).run;
}

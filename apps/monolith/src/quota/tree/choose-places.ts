import type { FreePlace } from '../../purchase/quota-places.api.ts';

/*
 * Chooses places of one sector for a quota. In this order:
 * 1. whole rows, so that as few rows as possible are cut: never more than one;
 * 2. no single free seat is left beside the chosen ones, if that is possible with as few cut rows;
 * 3. rows next to each other, and neighbours in the cut row;
 * 4. the better places.
 * "Whole" means: all seats of the row that are free. Standing places have no rows and are taken by rank.
 */

/** Neighbouring free seats of one row, with nothing that is free beside them. */
export type Run = readonly FreePlace[];

interface Row {
  readonly rowIndex: number;
  readonly runs: readonly Run[];
  readonly count: number;
  readonly rank: number;
}

/** Seats of one row of which something that is free is left. */
interface Cut {
  readonly seats: readonly FreePlace[];
  readonly pieces: number;
  readonly stranded: number;
}

/** Whole rows and at most one cut row. */
interface Choice {
  readonly rows: readonly Row[];
  readonly cut?: Cut;
  /** What is compared, most important first; smaller is better. */
  readonly cost: readonly number[];
}

/**
 * The places to take of a sector's free places: `quantity` of them. Undefined if fewer are free. Each row is tried as the first one,
 * which takes milliseconds for 500 rows.
 */
export function choosePlaces(free: readonly FreePlace[], quantity: number): readonly FreePlace[] | undefined {
  if (free.length < quantity) return undefined;
  if (free[0]?.number === null || free[0] === undefined) return [...free].sort((a, b) => a.rank - b.rank).slice(0, quantity);
  const rows = rowsOf(free);
  const choices = rows.flatMap((_row, start) => choicesFrom(rows, start, quantity));
  const best = choices.reduce((a, b) => (compareCosts(b.cost, a.cost) < 0 ? b : a));
  return [...best.rows.flatMap(({ runs }) => runs.flat()), ...(best.cut?.seats ?? [])];
}

/** How many single free seats the taken ones leave that had a free neighbour before. Standing places are never single. */
export function strandedBy(free: readonly FreePlace[], taken: ReadonlySet<string>): number {
  if (free[0]?.number === null) return 0;
  const before = rowsOf(free).flatMap(({ runs }) => runs.filter(({ length }) => length === 1).flat());
  const left = free.filter(({ seatId }) => !taken.has(seatId));
  const single = rowsOf(left).flatMap(({ runs }) => runs.filter(({ length }) => length === 1).flat());
  const wasSingle = new Set(before.map(({ seatId }) => seatId));
  return single.filter(({ seatId }) => !wasSingle.has(seatId)).length;
}

/** The rows of the free places, from the pitch upwards. */
export function rowsOf(free: readonly FreePlace[]): Row[] {
  const byRow = new Map<number, FreePlace[]>();
  for (const place of free) {
    const row = byRow.get(place.rowIndex);
    if (row) row.push(place);
    else byRow.set(place.rowIndex, [place]);
  }
  return [...byRow]
    .sort(([a], [b]) => a - b)
    .map(([rowIndex, places]) => ({ rowIndex, runs: runsOf(places), count: places.length, rank: rankOf(places) }));
}

/** The neighbours of one row, by number. */
export function runsOf(places: readonly FreePlace[]): FreePlace[][] {
  const runs: FreePlace[][] = [];
  for (const place of [...places].sort((a, b) => numberOf(a) - numberOf(b))) {
    const last = runs.at(-1);
    if (last && numberOf(last.at(-1)) + 1 === numberOf(place)) last.push(place);
    else runs.push([place]);
  }
  return runs;
}

/**
 * Takes whole rows from `start` upwards, then downwards, while they fit. What is left over comes from a row beside them, or from a
 * row that has exactly so many free seats.
 */
function choicesFrom(rows: readonly Row[], start: number, quantity: number): Choice[] {
  const order = [...rows.slice(start), ...rows.slice(0, start).reverse()];
  let missing = quantity;
  let taken = 0;
  for (const { count } of order) {
    if (count > missing || missing === 0) break;
    missing -= count;
    taken += 1;
  }
  const whole = order.slice(0, taken);
  if (missing === 0) return [choiceOf(whole)];
  const others = order.slice(taken);
  const exact = nearest(
    others.filter(({ count }) => count === missing),
    whole,
  );
  if (exact) return [choiceOf([...whole, exact])];
  const below = rows[start - 1];
  const beside = new Set([others[0], below && others.includes(below) ? below : undefined]);
  return [...beside].flatMap((row) => (row && row.count > missing ? choiceOf(whole, row, cutOf(row.runs, missing)) : []));
}

function nearest(candidates: readonly Row[], whole: readonly Row[]): Row | undefined {
  const distance = ({ rowIndex }: Row): number => Math.min(...whole.map((row) => Math.abs(row.rowIndex - rowIndex)), Infinity);
  return [...candidates].sort((a, b) => distance(a) - distance(b))[0];
}

/** Takes `quantity` seats of a row that has more: from one run if possible, and so that no single seat is left. */
function cutOf(runs: readonly Run[], quantity: number): Cut {
  const fitting = runs.filter(({ length }) => length >= quantity);
  const leftOf = (run: Run): number => run.length - quantity;
  const strandedOf = (run: Run): number => (leftOf(run) === 1 ? 1 : 0);
  // The shortest run that fits, so that longer ones stay whole.
  const [run] = [...fitting].sort((a, b) => strandedOf(a) - strandedOf(b) || leftOf(a) - leftOf(b) || rankOf(a) - rankOf(b));
  if (run && strandedOf(run) === 0) return { seats: betterEnd(run, quantity), pieces: 1, stranded: 0 };
  const whole = runsThatAddUp(runs, quantity);
  if (whole) return { seats: whole.flat(), pieces: whole.length, stranded: 0 };
  if (run) return { seats: betterEnd(run, quantity), pieces: 1, stranded: 1 };
  const [longest = [], ...rest] = [...runs].sort((a, b) => b.length - a.length || rankOf(a) - rankOf(b));
  const others = cutOf(rest, quantity - longest.length);
  return { seats: [...longest, ...others.seats], pieces: others.pieces + 1, stranded: others.stranded };
}

/** A row with more runs is so broken up that searching for runs that add up is not worth its time. */
const MAX_RUNS_TO_ADD_UP = 16;

/** The fewest runs that have exactly `quantity` seats together. Undefined if there are none. */
function runsThatAddUp(runs: readonly Run[], quantity: number): readonly Run[] | undefined {
  if (runs.length > MAX_RUNS_TO_ADD_UP) return undefined;
  const bySum = new Map<number, readonly Run[]>([[0, []]]);
  for (const run of runs)
    for (const [sum, chosen] of [...bySum]) {
      const better = bySum.get(sum + run.length);
      if (sum + run.length <= quantity && (!better || better.length > chosen.length + 1))
        bySum.set(sum + run.length, [...chosen, run]);
    }
  return bySum.get(quantity);
}

/** The seats at one end of the run, so that the rest stays together: of the two ends the one with the better seats. */
export function betterEnd(run: Run, quantity: number): Run {
  const [left, right] = [run.slice(0, quantity), run.slice(run.length - quantity)];
  return rankOf(right) < rankOf(left) ? right : left;
}

function choiceOf(whole: readonly Row[], cutRow?: Row, cut?: Cut): Choice {
  const indices = [...whole, ...(cutRow ? [cutRow] : [])].map(({ rowIndex }) => rowIndex).sort((a, b) => a - b);
  const gaps = indices.filter((index, at) => at > 0 && indices[at - 1] !== index - 1).length;
  const rank = whole.reduce((sum, row) => sum + row.rank, 0) + rankOf(cut?.seats ?? []);
  const cost = [cut ? 1 : 0, cut?.stranded ?? 0, gaps, cut?.pieces ?? 0, rank];
  return { rows: whole, ...(cut ? { cut } : {}), cost };
}

export function compareCosts(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((cost, index) => cost !== b[index]);
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

const numberOf = (place: FreePlace | undefined): number => place?.number ?? 0;
const rankOf = (places: readonly FreePlace[]): number => places.reduce((sum, { rank }) => sum + rank, 0);

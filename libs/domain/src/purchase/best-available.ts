/** A free place, as far as memory knows. */
export interface FreePlace {
  readonly seatId: string;
  readonly rowIndex: number;
  /** Null for standing. */
  readonly number: number | null;
  readonly rank: number;
}

export interface Choice {
  readonly seatIds: readonly string[];
  readonly together: boolean;
}

/** Of the best blocks one is drawn, so that a crowd that asks at the same moment does not fight for the same one. */
const BLOCKS_TO_DRAW_FROM = 12;

/**
 * The best places for `quantity` people: next to each other in one row near the focal point, without leaving a single
 * seat alone if another block avoids it; apart only when no row has enough together. Undefined when fewer are free.
 */
export function chooseBest(free: readonly FreePlace[], quantity: number, random: () => number): Choice | undefined {
  if (free.length < quantity) return undefined;
  const blocks = quantity === 1 ? [] : blocksOf(runsOf(free), quantity);
  if (quantity > 1 && blocks.length === 0 && free[0]?.number !== null)
    return { seatIds: nearest(free, quantity), together: false };
  if (blocks.length === 0) {
    const best = [...free].sort((a, b) => a.rank - b.rank).slice(0, BLOCKS_TO_DRAW_FROM * quantity);
    const start = Math.floor(random() * (best.length - quantity + 1));
    return { seatIds: best.slice(start, start + quantity).map(({ seatId }) => seatId), together: true };
  }
  const fewestStranded = blocks.reduce((fewest, { stranded }) => Math.min(fewest, stranded), 2);
  const fitting = blocks.filter(({ stranded }) => stranded === fewestStranded);
  const considered = fitting.sort((a, b) => a.rank - b.rank).slice(0, BLOCKS_TO_DRAW_FROM);
  const drawn = considered[Math.floor(random() * considered.length)] ?? considered[0];
  return { seatIds: (drawn?.places ?? []).map(({ seatId }) => seatId), together: true };
}

/** Free seats side by side: one array a run, in the order of the row. */
function runsOf(free: readonly FreePlace[]): FreePlace[][] {
  const seated = free.filter((place) => place.number !== null);
  const ordered = [...seated].sort((a, b) => a.rowIndex - b.rowIndex || (a.number ?? 0) - (b.number ?? 0));
  const runs: FreePlace[][] = [];
  for (const place of ordered) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run && last && last.rowIndex === place.rowIndex && (last.number ?? 0) + 1 === place.number) run.push(place);
    else runs.push([place]);
  }
  return runs;
}

interface Block {
  readonly places: readonly FreePlace[];
  /** Single seats left alone beside it. */
  readonly stranded: number;
  /** Mean rank of its places. */
  readonly rank: number;
}

function blocksOf(runs: readonly FreePlace[][], quantity: number): Block[] {
  return runs.flatMap((run) =>
    Array.from({ length: Math.max(0, run.length - quantity + 1) }, (_, start): Block => {
      const places = run.slice(start, start + quantity);
      const [before, after] = [start, run.length - quantity - start];
      const stranded = Number(before === 1) + Number(after === 1);
      return { places, stranded, rank: places.reduce((sum, place) => sum + place.rank, 0) / quantity };
    }),
  );
}

/** Nothing is together: the seats around the best one, so that at least they are near. */
function nearest(free: readonly FreePlace[], quantity: number): string[] {
  const best = free.reduce((a, b) => (b.rank < a.rank ? b : a));
  const distance = (place: FreePlace): number =>
    Math.abs(place.rowIndex - best.rowIndex) * 3 + Math.abs((place.number ?? 0) - (best.number ?? 0));
  return [...free]
    .sort((a, b) => distance(a) - distance(b) || a.rank - b.rank)
    .slice(0, quantity)
    .map(({ seatId }) => seatId);
}

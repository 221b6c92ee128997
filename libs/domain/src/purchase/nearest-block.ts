import type { FreePlace } from './best-available.ts';

/** One row up or down is as far as three seats to the side, as in the ranking of places. */
const ROW_STEP = 3;

/**
 * What is offered to somebody whose chosen seats are gone: as many others side by side, as near to the chosen ones as there
 * are. Of equally near blocks the one that leaves fewer seats alone, then the better places. Undefined when no row has so many
 * together: apart is not equal to what was chosen. Standing places are all alike, so any that are free will do.
 */
export function nearestBlock(free: readonly FreePlace[], chosen: readonly FreePlace[]): readonly string[] | undefined {
  const quantity = chosen.length;
  if (quantity === 0 || free.length < quantity) return undefined;
  if (free[0]?.number === null) return free.slice(0, quantity).map(({ seatId }) => seatId);
  const isFree = new Set(free.map(({ rowIndex, number }) => `${rowIndex} ${number}`));
  const weighed = blocksOf(free, quantity).map((places) => ({
    places,
    weights: [distance(places, chosen), strandedBeside(places, isFree), places.reduce((sum, { rank }) => sum + rank, 0)],
  }));
  const nearest = weighed.reduce<(typeof weighed)[number] | undefined>(
    (best, block) => (!best || isLess(block.weights, best.weights) ? block : best),
    undefined,
  );
  return nearest?.places.map(({ seatId }) => seatId);
}

/** Every run of so many neighbours, from whichever seat it begins. */
function blocksOf(free: readonly FreePlace[], quantity: number): FreePlace[][] {
  const ordered = [...free].sort((a, b) => a.rowIndex - b.rowIndex || numberOf(a) - numberOf(b));
  const blocks: FreePlace[][] = [];
  for (let start = 0; start + quantity <= ordered.length; start += 1) {
    const [first, last] = [ordered[start], ordered[start + quantity - 1]];
    // A row has each number once, so the ends tell whether anybody is missing in between.
    if (first?.rowIndex === last?.rowIndex && numberOf(last) - numberOf(first) === quantity - 1)
      blocks.push(ordered.slice(start, start + quantity));
  }
  return blocks;
}

/** How far everybody has to move, added up, when they keep the order they chose along the row. */
function distance(block: readonly FreePlace[], chosen: readonly FreePlace[]): number {
  const wanted = [...chosen].sort((a, b) => numberOf(a) - numberOf(b));
  return block.reduce((sum, { rowIndex, number }, index) => {
    const from = wanted[index];
    return sum + Math.abs((from?.rowIndex ?? 0) - rowIndex) * ROW_STEP + Math.abs(numberOf(from) - (number ?? 0));
  }, 0);
}

function strandedBeside(block: readonly FreePlace[], isFree: ReadonlySet<string>): number {
  const row = block[0]?.rowIndex;
  const isAlone = (number: number, step: number): boolean =>
    isFree.has(`${row} ${number}`) && !isFree.has(`${row} ${number + step}`);
  return Number(isAlone(numberOf(block[0]) - 1, -1)) + Number(isAlone(numberOf(block.at(-1)) + 1, 1));
}

function isLess(weights: readonly number[], others: readonly number[]): boolean {
  const at = weights.findIndex((weight, index) => weight !== others[index]);
  return at >= 0 && (weights[at] ?? 0) < (others[at] ?? 0);
}

function numberOf(place: FreePlace | undefined): number {
  return place?.number ?? 0;
}

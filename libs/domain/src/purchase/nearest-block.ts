import type { FreeSeat } from './free-seat.ts';

/** One row up or down is as far as three seats to the side, as in the ranking of places. */
const ROW_STEP = 3;

/** A run of neighbours, and what speaks against it, the weightiest first: how far it is, whom it leaves alone, how good it is. */
interface Block {
  readonly places: readonly FreeSeat[];
  readonly distance: number;
  readonly stranded: number;
  readonly rank: number;
}

/**
 * What is offered to somebody whose chosen seats are gone: as many others side by side, as near to the chosen ones as there
 * are. Of equally near blocks the one that leaves fewer seats alone, then the better places. Undefined when no row has so many
 * together: apart is not equal to what was chosen. Standing places are all alike, so any that are free will do.
 *
 * Rows are searched from the nearest one on, until the way to the row alone is longer than the best block is far: it is asked for by
 * everybody who loses a seat in the rush, and a sector may have 120,000.
 */
export function nearestBlock(free: readonly FreeSeat[], chosen: readonly FreeSeat[]): readonly string[] | undefined {
  const quantity = chosen.length;
  if (quantity === 0 || free.length < quantity) return undefined;
  if (free[0]?.number === null) return free.slice(0, quantity).map(({ seatId }) => seatId);
  const wanted = chosen.map(numberOf).sort((a, b) => a - b);
  let best: Block | undefined;
  for (const { row, away } of rowsByNearness(free, chosen)) {
    if (best && away > best.distance) break;
    row.sort((a, b) => numberOf(a) - numberOf(b));
    for (let start = 0; start + quantity <= row.length; start += 1) {
      // A row has each number once, so the ends tell whether anybody is missing in between.
      if (numberOf(row[start + quantity - 1]) - numberOf(row[start]) !== quantity - 1) continue;
      const distance = away + wanted.reduce((sum, number, at) => sum + Math.abs(number - numberOf(row[start + at])), 0);
      if (best && distance > best.distance) continue;
      const block = blockAt(row, start, quantity, distance);
      if (!best || isBetter(block, best)) best = block;
    }
  }
  return best?.places.map(({ seatId }) => seatId);
}

/** With how far everybody has to move to get to the row, added up. Along it they keep the order they chose. */
function rowsByNearness(free: readonly FreeSeat[], chosen: readonly FreeSeat[]): { row: FreeSeat[]; away: number }[] {
  const rows = new Map<number, FreeSeat[]>();
  for (const place of free) {
    const row = rows.get(place.rowIndex);
    if (row) row.push(place);
    else rows.set(place.rowIndex, [place]);
  }
  const awayFrom = (rowIndex: number): number =>
    chosen.reduce((sum, place) => sum + Math.abs(place.rowIndex - rowIndex) * ROW_STEP, 0);
  return [...rows].map(([rowIndex, row]) => ({ row, away: awayFrom(rowIndex) })).sort((a, b) => a.away - b.away);
}

function blockAt(row: readonly FreeSeat[], start: number, quantity: number, distance: number): Block {
  const places = row.slice(start, start + quantity);
  const end = start + quantity;
  const [before, after] = [areNeighbours(row[start - 1], row[start]), areNeighbours(row[end - 1], row[end])];
  const stranded =
    Number(before && !areNeighbours(row[start - 2], row[start - 1])) + Number(after && !areNeighbours(row[end], row[end + 1]));
  return { places, distance, stranded, rank: places.reduce((sum, { rank }) => sum + rank, 0) };
}

function isBetter(block: Block, than: Block): boolean {
  if (block.distance !== than.distance) return block.distance < than.distance;
  return block.stranded !== than.stranded ? block.stranded < than.stranded : block.rank < than.rank;
}

function areNeighbours(place: FreeSeat | undefined, next: FreeSeat | undefined): boolean {
  return place !== undefined && next !== undefined && numberOf(next) === numberOf(place) + 1;
}

function numberOf(place: FreeSeat | undefined): number {
  return place?.number ?? 0;
}

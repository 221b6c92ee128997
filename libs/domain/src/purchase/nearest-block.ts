import type { SeatInSector } from './sector-map.ts';

/** A seat of a sector, with its id: one that was free when the sector was read, or one that the fan chose. */
export interface FreeSeat extends SeatInSector {
  readonly seatId: string;
}

/** One row up or down is as far as three seats to the side. `SeatGeometry.rank` uses the same measure. */
const ROW_STEP = 3;

/**
 * Neighbouring free seats of one row that could be offered. The block with the smallest distance wins, then fewest stranded, then
 * smallest rank.
 */
interface Block {
  readonly seats: readonly FreeSeat[];
  readonly distance: number;
  /** How many single free seats the block would leave beside it. */
  readonly stranded: number;
  readonly rank: number;
}

/**
 * The ids of the seats to offer to a fan whose chosen seats are taken: the same number of neighbouring seats, as near to the
 * chosen seats as possible. Of equally near blocks it takes the one that leaves fewer single free seats beside it, then the one
 * with better seats. Undefined if no row has enough neighbouring seats: separate seats are not offered. In a standing sector it
 * offers any free places.
 *
 * Searches the nearest rows first, and stops when the distance to the row alone exceeds that of the best block. It must be fast: at
 * peak load it runs for every fan who loses a seat, and a sector may have 120,000 seats.
 */
export function nearestBlock(free: readonly FreeSeat[], chosen: readonly FreeSeat[]): readonly string[] | undefined {
  const quantity = chosen.length;
  if (quantity === 0 || free.length < quantity) return undefined;
  if (free[0]?.number === null) return free.slice(0, quantity).map(({ seatId }) => seatId);
  const wanted = chosen.map(numberOf).sort((a, b) => a - b);
  let best: Block | undefined;
  for (const { row, rowDistance } of rowsByDistance(free, chosen)) {
    if (best && rowDistance > best.distance) break;
    row.sort((a, b) => numberOf(a) - numberOf(b));
    for (let start = 0; start + quantity <= row.length; start += 1) {
      // A row has each number once, so the first and the last number show whether a seat between them is missing.
      if (numberOf(row[start + quantity - 1]) - numberOf(row[start]) !== quantity - 1) continue;
      const distance = rowDistance + wanted.reduce((sum, number, at) => sum + Math.abs(number - numberOf(row[start + at])), 0);
      if (best && distance > best.distance) continue;
      const block = blockAt(row, start, quantity, distance);
      if (!best || isBetter(block, best)) best = block;
    }
  }
  return best?.seats.map(({ seatId }) => seatId);
}

/**
 * The rows with free seats, the row nearest to the chosen seats first. `rowDistance` is the total distance of all chosen seats to
 * the row.
 */
function rowsByDistance(free: readonly FreeSeat[], chosen: readonly FreeSeat[]): { row: FreeSeat[]; rowDistance: number }[] {
  const rows = new Map<number, FreeSeat[]>();
  for (const seat of free) {
    const row = rows.get(seat.rowIndex);
    if (row) row.push(seat);
    else rows.set(seat.rowIndex, [seat]);
  }
  const distanceTo = (rowIndex: number): number =>
    chosen.reduce((sum, seat) => sum + Math.abs(seat.rowIndex - rowIndex) * ROW_STEP, 0);
  return [...rows]
    .map(([rowIndex, row]) => ({ row, rowDistance: distanceTo(rowIndex) }))
    .sort((a, b) => a.rowDistance - b.rowDistance);
}

function blockAt(row: readonly FreeSeat[], start: number, quantity: number, distance: number): Block {
  const seats = row.slice(start, start + quantity);
  const end = start + quantity;
  const [before, after] = [areNeighbours(row[start - 1], row[start]), areNeighbours(row[end - 1], row[end])];
  const stranded =
    Number(before && !areNeighbours(row[start - 2], row[start - 1])) + Number(after && !areNeighbours(row[end], row[end + 1]));
  return { seats, distance, stranded, rank: seats.reduce((sum, { rank }) => sum + rank, 0) };
}

function isBetter(block: Block, best: Block): boolean {
  if (block.distance !== best.distance) return block.distance < best.distance;
  return block.stranded !== best.stranded ? block.stranded < best.stranded : block.rank < best.rank;
}

function areNeighbours(seat: FreeSeat | undefined, next: FreeSeat | undefined): boolean {
  return seat !== undefined && next !== undefined && numberOf(next) === numberOf(seat) + 1;
}

function numberOf(seat: FreeSeat | undefined): number {
  return seat?.number ?? 0;
}

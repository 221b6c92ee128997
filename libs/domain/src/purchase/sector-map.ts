/*
 * Which seats of a sector one process believes to be free, and which of them it proposes. It proposes and the database decides,
 * so it may be wrong in both directions, and is corrected by the database's answer.
 *
 *   FREE ── propose ──▶ TAKEN (proposed, held or sold: the map does not tell them apart)
 *    ▲                    │
 *    └───── markFree ─────┘
 *
 * A proposal costs microseconds: for each quantity the blocks of neighbouring seats are ranked once, and the search goes from the
 * best block on. Seats are bytes in an array. A seat's index is its position in the sector: row by row, and in a row from one end
 * to the other. Standing places are seats without a number.
 */

/** Where a seat is in its sector. */
export interface SeatInSector {
  readonly rowIndex: number;
  /** Null for a standing place. */
  readonly number: number | null;
  /** How good the seat is: a lower rank is better. */
  readonly rank: number;
}

/**
 * A proposal is drawn from this many of the best blocks, so that processes that do not know of each other rarely propose the same
 * seats.
 */
export const MIN_BLOCKS_TO_DRAW_FROM = 12;

/** Seats that a `SectorMap` proposes for a hold request. The database decides whether they can be held. */
export interface Proposal {
  /** Indices of the proposed seats in the sector. */
  readonly seats: readonly number[];
  /** True if the seats are side by side in one row. */
  readonly together: boolean;
}

/** Part `index` (from 0) of `of` parts of a sector. While several processes sell, each proposes seats of its own part first. */
export interface SectorShare {
  readonly index: number;
  readonly of: number;
}

/** The blocks of one size, best block first. Each block is stored as the index of its first seat. */
interface RankedBlocks {
  readonly order: Int32Array;
  /** A copy of `order` from which taken blocks are dropped. The first `dropped` elements are unused. */
  readonly starts: Int32Array;
  dropped: number;
}

/**
 * Processes share a seated sector by rows. Standing places have no rows and are shared in zones of this many places, or of as many
 * as the requested block if that is larger.
 */
const STANDING_ZONE = 16;

/** The seats of one sector as one process believes them to be free or taken; proposes seats for hold requests. */
export class SectorMap {
  private readonly free: Uint8Array;
  /** By seat index: 1 when the seat with the next index is the neighbour, in the same row with the next number. */
  private readonly joined: Uint8Array;
  private readonly blocks = new Map<number, RankedBlocks>();
  private count = 0;

  /** `seats`: all seats of the sector, by seat index. None of them is free until `markFree`. */
  constructor(private readonly seats: readonly SeatInSector[]) {
    this.free = new Uint8Array(seats.length);
    this.joined = new Uint8Array(seats.length);
    for (const [index, seat] of seats.entries()) this.joined[index] = Number(areNeighbours(seat, seats[index + 1]));
  }

  get freeCount(): number {
    return this.count;
  }

  markFree(indices: Iterable<number>): void {
    let hasChanged = false;
    for (const index of indices) hasChanged = this.set(index, 1) || hasChanged;
    if (hasChanged) for (const ranked of this.blocks.values()) restore(ranked);
  }

  markTaken(indices: Iterable<number>): void {
    for (const index of indices) this.set(index, 0);
  }

  /**
   * Proposes `quantity` free seats and marks them as taken: one of the `drawFrom` best blocks, or if no block is free, separate
   * seats near the best one. Undefined when too few seats are free.
   */
  propose(quantity: number, random: () => number, drawFrom = MIN_BLOCKS_TO_DRAW_FROM, share?: SectorShare): Proposal | undefined {
    if (this.count < quantity) return undefined;
    const toSkip = Math.floor(random() * drawFrom);
    const start = (share && this.bestBlock(quantity, toSkip, share)) ?? this.bestBlock(quantity, toSkip);
    const seats: number[] = start === undefined ? this.nearest(quantity) : [];
    if (start !== undefined) for (let index = start; index < start + quantity; index += 1) seats.push(index);
    this.markTaken(seats);
    return { seats, together: start !== undefined || this.areTogether(seats) };
  }

  /** True if the seats are side by side in one row. Standing places are always together: their holders may stand anywhere. */
  areTogether(indices: readonly number[]): boolean {
    if (this.seats[0]?.number === null) return true;
    const inOrder = [...indices].sort((a, b) => a - b);
    return inOrder.every((index, at) => at === 0 || (inOrder[at - 1] === index - 1 && this.linked(index - 1)));
  }

  private set(index: number, value: 0 | 1): boolean {
    if (this.free[index] !== 1 - value) return false;
    this.free[index] = value;
    this.count += value === 1 ? 1 : -1;
    return true;
  }

  /**
   * Index of the first seat of a good block: a free block that leaves no single free seat beside it. Skips the `toSkip` best good
   * blocks. If there is no good block, takes the free block that leaves the fewest single seats, or nothing if a `share` is given.
   */
  private bestBlock(quantity: number, toSkip: number, share?: SectorShare): number | undefined {
    const ranked = this.ranked(quantity);
    let good: number | undefined;
    let second: { start: number; stranded: number } | undefined;
    const alive: number[] = [];
    let at = ranked.dropped;
    while (at < ranked.starts.length) {
      const start = ranked.starts[at] ?? 0;
      at += 1;
      if (!this.isFree(start, quantity)) continue;
      alive.push(start);
      if (share && !this.liesIn(share, start, quantity)) continue;
      const stranded = this.strandedBeside(start, quantity);
      if (stranded === 0) good = start;
      else if (!second || stranded < second.stranded) second = { start, stranded };
      if (stranded === 0 && toSkip === 0) break;
      if (stranded === 0) toSkip -= 1;
    }
    dropTaken(ranked, at, alive);
    return good ?? (share ? undefined : second?.start);
  }

  /**
   * True if all seats of the block are in the share. Otherwise another process could propose a part of the block at the same time.
   */
  private liesIn({ index, of }: SectorShare, start: number, quantity: number): boolean {
    const zone = this.zoneOf(start, quantity);
    return zone % of === index && this.zoneOf(start + quantity - 1, quantity) === zone;
  }

  private zoneOf(index: number, quantity: number): number {
    const seat = this.seats[index];
    return seat?.number === null ? Math.floor(index / Math.max(STANDING_ZONE, quantity)) : (seat?.rowIndex ?? 0);
  }

  private isFree(start: number, quantity: number): boolean {
    for (let index = start; index < start + quantity; index += 1) if (this.free[index] !== 1) return false;
    return true;
  }

  /** How many single free seats would remain directly beside the block: 0, 1 or 2. Standing places are never alone. */
  private strandedBeside(start: number, quantity: number): number {
    const end = start + quantity;
    const left = this.linked(start - 1) && this.free[start - 1] === 1 && !(this.linked(start - 2) && this.free[start - 2] === 1);
    const right = this.linked(end - 1) && this.free[end] === 1 && !(this.linked(end) && this.free[end + 1] === 1);
    return this.seats[start]?.number === null ? 0 : Number(left) + Number(right);
  }

  private linked(index: number): boolean {
    return this.joined[index] === 1;
  }

  private ranked(quantity: number): RankedBlocks {
    const known = this.blocks.get(quantity);
    if (known) return known;
    const candidates: { start: number; rank: number }[] = [];
    for (let start = 0; start + quantity <= this.seats.length; start += 1) {
      let [whole, rank] = [true, 0];
      for (let index = start; index < start + quantity; index += 1) {
        if (index + 1 < start + quantity && !this.linked(index)) whole = false;
        rank += this.seats[index]?.rank ?? 0;
      }
      if (whole) candidates.push({ start, rank });
    }
    candidates.sort((a, b) => a.rank - b.rank);
    const order = Int32Array.from(candidates, ({ start }) => start);
    const ranked = { order, starts: order.slice(), dropped: 0 };
    this.blocks.set(quantity, ranked);
    return ranked;
  }

  /**
   * Used when no row has enough free seats together: the free seats nearest to the best free seat. One row counts as far as three
   * seats.
   */
  private nearest(quantity: number): number[] {
    const free = this.seats.flatMap((seat, index) => (this.free[index] === 1 ? [{ seat, index }] : []));
    const best = free.reduce((a, b) => (b.seat.rank < a.seat.rank ? b : a)).seat;
    const distance = (seat: SeatInSector): number =>
      Math.abs(seat.rowIndex - best.rowIndex) * 3 + Math.abs((seat.number ?? 0) - (best.number ?? 0));
    free.sort((a, b) => distance(a.seat) - distance(b.seat) || a.seat.rank - b.seat.rank);
    return free.slice(0, quantity).map(({ index }) => index);
  }
}

/**
 * Of the blocks before `end`, keeps only the free ones (`alive`), so that the next search does not go through taken blocks again.
 */
function dropTaken(ranked: RankedBlocks, end: number, alive: readonly number[]): void {
  const first = end - alive.length;
  if (first === ranked.dropped) return;
  ranked.starts.set(alive, first);
  ranked.dropped = first;
}

/** Puts the dropped blocks back after a seat became free: any of them may be free again. */
function restore(ranked: RankedBlocks): void {
  ranked.starts.set(ranked.order);
  ranked.dropped = 0;
}

function areNeighbours(seat: SeatInSector, next: SeatInSector | undefined): boolean {
  if (!next || next.rowIndex !== seat.rowIndex) return false;
  return seat.number === null || next.number === seat.number + 1;
}

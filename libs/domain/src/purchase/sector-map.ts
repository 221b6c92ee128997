/*
 * One process's picture of a sector: which places it believes to be free. It proposes, the database decides; so it may be
 * wrong in both directions and is corrected by what the database answers.
 *
 *   free ──propose──▶ proposed ──taken──▶ taken
 *    ▲                  │  └──lost──▶ taken (by somebody else)
 *    └────put back──────┘
 *
 * Proposing costs microseconds: for each quantity the blocks of neighbouring places are ranked once, and the search goes
 * from the best one on, over places that are bytes in an array. A place is known by its number: row by row, and in a row from
 * one end to the other, as they were given.
 */

/** Where a place lies in its sector. */
export interface SeatInSector {
  readonly rowIndex: number;
  /** Null for standing. */
  readonly number: number | null;
  readonly rank: number;
}

/** Of so many of the best blocks one is drawn, so that processes which do not know of each other rarely propose the same. */
export const FEWEST_TO_DRAW_FROM = 12;

export interface Proposal {
  readonly places: readonly number[];
  readonly together: boolean;
}

/** Of so many parts of a sector the one to look at first. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

/** Where the blocks of a quantity begin, best first. */
interface RankedBlocks {
  readonly order: Int32Array;
  /** The same, but the first `gone` are not worth a look, and what follows has lost some of them. */
  readonly starts: Int32Array;
  gone: number;
}

/** Standing places have no rows, so they are shared by the dozen or so; by the block, where that is more. */
const STANDING_ZONE = 16;

export class SectorMap {
  private readonly free: Uint8Array;
  /** 1 when the place has a neighbour to its right: same row, next number. */
  private readonly joined: Uint8Array;
  private readonly blocks = new Map<number, RankedBlocks>();
  private count = 0;

  /** All places of the sector, none of them free yet. */
  constructor(private readonly places: readonly SeatInSector[]) {
    this.free = new Uint8Array(places.length);
    this.joined = new Uint8Array(places.length);
    for (const [index, place] of places.entries()) this.joined[index] = Number(areNeighbours(place, places[index + 1]));
  }

  get freeCount(): number {
    return this.count;
  }

  markFree(places: Iterable<number>): void {
    let isAny = false;
    for (const place of places) isAny = this.set(place, 1) || isAny;
    if (isAny) for (const ranked of this.blocks.values()) restore(ranked);
  }

  markTaken(places: Iterable<number>): void {
    for (const place of places) this.set(place, 0);
  }

  /** The best places for so many, one of `drawFrom` good blocks, taken out of the picture; undefined when it has too few. */
  propose(quantity: number, random: () => number, drawFrom = FEWEST_TO_DRAW_FROM, share?: Share): Proposal | undefined {
    if (this.count < quantity) return undefined;
    const toPass = Math.floor(random() * drawFrom);
    const start = (share && this.bestBlock(quantity, toPass, share)) ?? this.bestBlock(quantity, toPass);
    const places: number[] = start === undefined ? this.nearest(quantity) : [];
    if (start !== undefined) for (let place = start; place < start + quantity; place += 1) places.push(place);
    this.markTaken(places);
    // Whoever stands may stand anywhere: holes in the list of free places part nobody.
    return { places, together: start !== undefined || this.areTogether(places) };
  }

  /** One next to the other in one row; whoever stands stands together. */
  areTogether(places: readonly number[]): boolean {
    if (this.places[0]?.number === null) return true;
    const inOrder = [...places].sort((a, b) => a - b);
    return inOrder.every((place, at) => at === 0 || (inOrder[at - 1] === place - 1 && this.linked(place - 1)));
  }

  private set(place: number, value: 0 | 1): boolean {
    if (this.free[place] !== 1 - value) return false;
    this.free[place] = value;
    this.count += value === 1 ? 1 : -1;
    return true;
  }

  /**
   * One of the first blocks that leave nobody alone, past so many of them; else the one that leaves the fewest. Of a share
   * only the former.
   */
  private bestBlock(quantity: number, toPass: number, share?: Share): number | undefined {
    const ranked = this.ranked(quantity);
    let good: number | undefined;
    let second: { start: number; stranded: number } | undefined;
    const alive: number[] = [];
    let at = ranked.gone;
    while (at < ranked.starts.length) {
      const start = ranked.starts[at] ?? 0;
      at += 1;
      if (!this.isFree(start, quantity)) continue;
      alive.push(start);
      if (share && !this.liesIn(share, start, quantity)) continue;
      const stranded = this.strandedBeside(start, quantity);
      if (stranded === 0) good = start;
      else if (!second || stranded < second.stranded) second = { start, stranded };
      if (stranded === 0 && toPass === 0) break;
      if (stranded === 0) toPass -= 1;
    }
    forget(ranked, at, alive);
    return good ?? (share ? undefined : second?.start);
  }

  /** All of it, or half of it would be proposed by the neighbour at the same time. */
  private liesIn({ index, of }: Share, start: number, quantity: number): boolean {
    const zone = this.zoneOf(start, quantity);
    return zone % of === index && this.zoneOf(start + quantity - 1, quantity) === zone;
  }

  private zoneOf(index: number, quantity: number): number {
    const place = this.places[index];
    return place?.number === null ? Math.floor(index / Math.max(STANDING_ZONE, quantity)) : (place?.rowIndex ?? 0);
  }

  private isFree(start: number, quantity: number): boolean {
    for (let index = start; index < start + quantity; index += 1) if (this.free[index] !== 1) return false;
    return true;
  }

  /** How many single seats would be left alone beside the block: 0, 1 or 2. Standing places are never alone. */
  private strandedBeside(start: number, quantity: number): number {
    const end = start + quantity;
    const left = this.linked(start - 1) && this.free[start - 1] === 1 && !(this.linked(start - 2) && this.free[start - 2] === 1);
    const right = this.linked(end - 1) && this.free[end] === 1 && !(this.linked(end) && this.free[end + 1] === 1);
    return this.places[start]?.number === null ? 0 : Number(left) + Number(right);
  }

  private linked(index: number): boolean {
    return this.joined[index] === 1;
  }

  private ranked(quantity: number): RankedBlocks {
    const known = this.blocks.get(quantity);
    if (known) return known;
    const candidates: { start: number; rank: number }[] = [];
    for (let start = 0; start + quantity <= this.places.length; start += 1) {
      let [whole, rank] = [true, 0];
      for (let index = start; index < start + quantity; index += 1) {
        if (index + 1 < start + quantity && !this.linked(index)) whole = false;
        rank += this.places[index]?.rank ?? 0;
      }
      if (whole) candidates.push({ start, rank });
    }
    candidates.sort((a, b) => a.rank - b.rank);
    const order = Int32Array.from(candidates, ({ start }) => start);
    const ranked = { order, starts: order.slice(), gone: 0 };
    this.blocks.set(quantity, ranked);
    return ranked;
  }

  /** No row has enough together: the free places around the best one, so that at least they are near. */
  private nearest(quantity: number): number[] {
    const free = this.places.flatMap((place, index) => (this.free[index] === 1 ? [{ place, index }] : []));
    const best = free.reduce((a, b) => (b.place.rank < a.place.rank ? b : a)).place;
    const distance = (place: SeatInSector): number =>
      Math.abs(place.rowIndex - best.rowIndex) * 3 + Math.abs((place.number ?? 0) - (best.number ?? 0));
    free.sort((a, b) => distance(a.place) - distance(b.place) || a.place.rank - b.place.rank);
    return free.slice(0, quantity).map(({ index }) => index);
  }
}

/** Of those before `end` only the `alive` ones are looked at again: a search does not climb over what was sold before. */
function forget(ranked: RankedBlocks, end: number, alive: readonly number[]): void {
  const first = end - alive.length;
  if (first === ranked.gone) return;
  ranked.starts.set(alive, first);
  ranked.gone = first;
}

/** Something is free again: all of them may be. */
function restore(ranked: RankedBlocks): void {
  ranked.starts.set(ranked.order);
  ranked.gone = 0;
}

/** Side by side; standing places stand anywhere, so any of them do. */
function areNeighbours(place: SeatInSector, next: SeatInSector | undefined): boolean {
  if (!next || next.rowIndex !== place.rowIndex) return false;
  return place.number === null || next.number === place.number + 1;
}

import { Ring } from '#platform/ring';
import type { WaitingWish } from './waiting-wish.ts';

/** One commit for so many: beyond it the statement grows faster than it saves. */
const MOST_IN_A_BATCH = 256;
/** Fewer are not worth a commit of their own while others are being committed: a batch of 16 costs half as much again a wish as one of 32. */
const LEAST_BESIDE_OTHERS = 16;
/** Nor are much fewer than those: who comes over HTTP comes little by little, and a lane that left at once would always leave with few. */
const SHARE_OF_OTHERS = 0.75;
/** More than come in most rushes. */
const ROOM = 1024;

/**
 * Wishes nobody is deciding yet, in the order in which they came. Several lanes take from it, and each takes its share of all
 * there are, decided or not: two half batches at once use both the database and the time it takes to choose.
 */
export class WaitingWishes {
  private readonly waiting = new Ring<WaitingWish>(ROOM);
  private readonly fans = new Set<string>();
  private beingDecided = 0;

  constructor(private readonly lanes: number) {}

  get count(): number {
    return this.waiting.length;
  }

  /** False when a lane would do better to wait for what the others leave. */
  get areWorthABatch(): boolean {
    const least = this.beingDecided === 0 ? 1 : Math.max(LEAST_BESIDE_OTHERS, this.beingDecided * SHARE_OF_OTHERS);
    return this.waiting.length >= least;
  }

  add(one: WaitingWish): void {
    this.waiting.push(one);
  }

  /** Before those who came later. */
  addAgain(one: WaitingWish): void {
    this.waiting.unshift(one);
  }

  /** The next ones; one a fan, so that each is counted on its own, and nobody whose named seats another lane is deciding about. */
  take(): readonly WaitingWish[] {
    if (!this.areWorthABatch) return [];
    const share = Math.ceil((this.waiting.length + this.beingDecided) / this.lanes);
    const most = Math.min(MOST_IN_A_BATCH, Math.max(share, LEAST_BESIDE_OTHERS));
    const taken: WaitingWish[] = [];
    const later: WaitingWish[] = [];
    while (taken.length < most) {
      const one = this.waiting.shift();
      if (!one) break;
      const isHeldUp = this.fans.has(one.wish.userId) || (one.named && one.picture.proposedAmong(one.named).length > 0);
      (isHeldUp ? later : taken).push(one);
      if (!isHeldUp) this.fans.add(one.wish.userId);
    }
    for (const one of later.reverse()) this.waiting.unshift(one);
    this.beingDecided += taken.length;
    return taken;
  }

  /** They were decided, or have come back to wait. */
  done(taken: readonly WaitingWish[]): void {
    this.beingDecided -= taken.length;
    for (const one of taken) this.fans.delete(one.wish.userId);
  }
}

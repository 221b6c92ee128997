import { Ring } from '#platform/ring';
import type { QueuedHold } from './queued-hold.ts';

/** One commit for so many: beyond it the statement grows faster than it saves. */
const MOST_IN_A_BATCH = 256;
/**
 * Fewer are not worth a commit of their own while others are being committed: they cost the database and us less together
 * with those who come meanwhile, and are not even answered later.
 */
const LEAST_BESIDE_OTHERS = 128;
/** A commit takes milliseconds: who has waited for another one for so long waits for something that hangs. */
const PATIENCE_MS = 50;
/** More than come in most rushes. */
const ROOM = 1024;

/** Wishes nobody is deciding yet, in the order in which they came. Several lanes take from it; all but one only by the hundred. */
export class HoldBuffer {
  private readonly waiting = new Ring<QueuedHold>(ROOM);
  private readonly fans = new Set<string>();
  private beingDecided = 0;
  private takenAt = 0;

  get count(): number {
    return this.waiting.length;
  }

  /** False when a lane would do better to wait for what the others leave. */
  get areWorthABatch(): boolean {
    const isUrgent = this.beingDecided === 0 || Date.now() - this.takenAt > PATIENCE_MS;
    return this.waiting.length >= (isUrgent ? 1 : LEAST_BESIDE_OTHERS);
  }

  add(one: QueuedHold): void {
    this.waiting.push(one);
  }

  /** Before those who came later. */
  addAgain(one: QueuedHold): void {
    this.waiting.unshift(one);
  }

  /** The next ones; one a fan, so that each is counted on its own, and nobody whose named seats another lane is deciding about. */
  take(): readonly QueuedHold[] {
    if (!this.areWorthABatch) return [];
    const taken: QueuedHold[] = [];
    const later: QueuedHold[] = [];
    while (taken.length < MOST_IN_A_BATCH) {
      const one = this.waiting.shift();
      if (!one) break;
      const isHeldUp = this.fans.has(one.wish.userId) || (one.named && one.picture.proposedAmong(one.named).length > 0);
      (isHeldUp ? later : taken).push(one);
      if (!isHeldUp) this.fans.add(one.wish.userId);
    }
    for (const one of later.reverse()) this.waiting.unshift(one);
    this.beingDecided += taken.length;
    if (taken.length > 0) this.takenAt = Date.now();
    return taken;
  }

  /** They were decided, or have come back to wait. */
  done(taken: readonly QueuedHold[]): void {
    this.beingDecided -= taken.length;
    for (const one of taken) this.fans.delete(one.wish.userId);
  }
}

import type { Source } from './event.ts';

/**
 * The pause after the second refusal in a row; it doubles with each further one. It is longer than the 200 ms between two
 * requests, so that the loader that serves the source also gets the next request.
 */
const FIRST_PAUSE_MS = 400;
/** If a loader dies, its source waits at most this long (after the lock has expired) until another loader tries again. */
const MAX_PAUSE_MS = 1600;

interface Refusals {
  readonly inARow: number;
  readonly pausedUntil: number;
}

/**
 * A source whose lock or rate limiter refused this loader twice in a row is served by another loader. This loader then asks for
 * it less and less often. Without this backoff eight loaders asked Redis ten times in vain for each fetch; with it each source
 * soon has one or two loaders.
 */
export class ContentionBackoff {
  private readonly refusals = new Map<string, Refusals>();

  isPaused({ name }: Source, now: number): boolean {
    return now < (this.refusals.get(name)?.pausedUntil ?? 0);
  }

  refused({ name }: Source, now: number): void {
    const inARow = (this.refusals.get(name)?.inARow ?? 0) + 1;
    const pauseMs = inARow < 2 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (inARow - 2), MAX_PAUSE_MS);
    this.refusals.set(name, { inARow, pausedUntil: now + pauseMs });
  }

  /** This loader got both the lock and the permit: no backoff any more. */
  acquired({ name }: Source): void {
    this.refusals.delete(name);
  }
}

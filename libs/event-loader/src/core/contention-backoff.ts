import type { Source } from './event.ts';

/**
 * The pause after the second refusal in a row; it doubles with each further refusal. The pause is longer than the 200 ms between
 * two requests, so that the loader that serves the source also gets the next request.
 */
const FIRST_PAUSE_MS = 400;
/**
 * The longest pause. If the loader that serves a source dies, another loader tries that source at most this long after the lock
 * has expired.
 */
const MAX_PAUSE_MS = 1600;

/** How often in a row the lock or rate limiter of a source refused this loader, and until when the loader skips the source. */
interface Refusals {
  readonly inARow: number;
  readonly pausedUntil: number;
}

/**
 * Makes a loader try a source less and less often while another loader serves that source, which is assumed when its lock or rate
 * limiter has refused twice in a row. Without this backoff eight loaders made ten refused requests to Redis for each fetch; with
 * it each source is soon served by only one or two loaders.
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

  /** Ends the backoff of a source, because this loader got both its lock and its permit. */
  acquired({ name }: Source): void {
    this.refusals.delete(name);
  }
}

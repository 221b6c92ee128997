/** After this many failures in a row the source is paused. */
const FAILURES_TO_OPEN = 5;
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;
/** A source that answers 401 or 403 is paused longer, because only people can correct the access. */
const FORBIDDEN_PAUSE_MS = 60_000;

/**
 * Pauses a source that keeps failing, so that it costs no time. After five failures in a row the source is paused, then one fetch
 * is tried. Each failed try doubles the pause, up to half a minute. The first success resets the breaker.
 */
export class SourceBreaker {
  private failures = 0;
  private pausedUntil = 0;

  isPaused(now: number): boolean {
    return now < this.pausedUntil;
  }

  succeeded(): void {
    this.failures = 0;
    this.pausedUntil = 0;
  }

  /**
   * Counts a failure. Returns true if it opened the breaker; never for 401 and 403, because then the source is alive and the
   * error has an alert of its own.
   */
  failed(now: number, isForbidden: boolean): boolean {
    this.failures += 1;
    const doubled = FIRST_PAUSE_MS * 2 ** Math.min(this.failures - FAILURES_TO_OPEN, 10);
    const pauseMs = isForbidden ? FORBIDDEN_PAUSE_MS : this.failures < FAILURES_TO_OPEN ? 0 : Math.min(doubled, MAX_PAUSE_MS);
    this.pausedUntil = now + pauseMs;
    return this.failures === FAILURES_TO_OPEN && !isForbidden;
  }
}

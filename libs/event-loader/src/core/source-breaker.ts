/** So many failures in a row, and the source is left alone for a while. */
const FAILURES_TO_OPEN = 5;
const FIRST_REST_MS = 1000;
const LONGEST_REST_MS = 30_000;
/** A source that says we may not is not asked again soon: only people can change that. */
const FORBIDDEN_REST_MS = 60_000;

/**
 * A dead source costs nothing: after five failures in a row it rests, then one fetch tries; each failed try doubles the rest
 * up to half a minute, and the first success forgets everything.
 */
export class SourceBreaker {
  private failures = 0;
  private restsUntil = 0;

  isResting(now: number): boolean {
    return now < this.restsUntil;
  }

  succeeded(): void {
    this.failures = 0;
    this.restsUntil = 0;
  }

  /** True if this failure opened the breaker. A source that answers 401 or 403 is alive: it has an alert of its own. */
  failed(now: number, isForbidden: boolean): boolean {
    this.failures += 1;
    const doubled = FIRST_REST_MS * 2 ** Math.min(this.failures - FAILURES_TO_OPEN, 10);
    const restMs = isForbidden ? FORBIDDEN_REST_MS : this.failures < FAILURES_TO_OPEN ? 0 : Math.min(doubled, LONGEST_REST_MS);
    this.restsUntil = now + restMs;
    return this.failures === FAILURES_TO_OPEN && !isForbidden;
  }
}

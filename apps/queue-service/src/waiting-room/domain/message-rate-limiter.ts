const MAX_MESSAGES = 10;
const PERIOD_MS = 10_000;

/** Lets ten messages pass in any ten seconds of one socket, and no more. Stores only the times of the last ten. */
export class MessageRateLimiter {
  private readonly times: number[] = [];
  private next = 0;

  /** `nowMs` is monotonic. False when this message exceeds the limit. */
  take(nowMs: number): boolean {
    const oldest = this.times[this.next];
    if (oldest !== undefined && nowMs - oldest < PERIOD_MS) return false;
    this.times[this.next] = nowMs;
    this.next = (this.next + 1) % MAX_MESSAGES;
    return true;
  }
}

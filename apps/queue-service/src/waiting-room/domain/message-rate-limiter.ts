const MAX_MESSAGES = 10;
const PERIOD_MS = 10_000;

/** Allows one socket at most ten messages in any ten seconds. Stores only the times of the last ten messages. */
export class MessageRateLimiter {
  private readonly times: number[] = [];
  private next = 0;

  /** Counts a message at `nowMs` (monotonic). False when the message exceeds the limit. */
  take(nowMs: number): boolean {
    const oldest = this.times[this.next];
    if (oldest !== undefined && nowMs - oldest < PERIOD_MS) return false;
    this.times[this.next] = nowMs;
    this.next = (this.next + 1) % MAX_MESSAGES;
    return true;
  }
}

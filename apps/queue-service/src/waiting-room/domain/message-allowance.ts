const MESSAGES = 10;
const WITHIN_MS = 10_000;

/** Ten messages in any ten seconds from one socket; the eleventh is one too many. Remembers ten times and nothing more. */
export class MessageAllowance {
  private readonly times: number[] = [];
  private next = 0;

  /** Monotonic milliseconds in; false when this message is over the limit. */
  take(nowMs: number): boolean {
    const oldest = this.times[this.next];
    if (oldest !== undefined && nowMs - oldest < WITHIN_MS) return false;
    this.times[this.next] = nowMs;
    this.next = (this.next + 1) % MESSAGES;
    return true;
  }
}

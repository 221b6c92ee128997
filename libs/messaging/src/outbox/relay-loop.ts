import type { Logger } from '#platform/logging/logger';

/**
 * Interval of runs without a nudge (the call of `nudge` after a message was written). It is the longest delay of a message whose
 * process died after the commit and before the nudge.
 */
const POLL_MS = 1000;

/**
 * Runs the relay: calls `runOnce` when it is nudged and at least every second, one run at a time, until it is stopped. A nudge
 * says that a message was just written. After a failed run the loop pauses for two intervals, even if it is nudged: every
 * purchase nudges, and this must not become a storm of attempts while a destination is down. We do not use NOTIFY, because a
 * NOTIFY in the writing transaction made 64 clients 3.4–5.6 times slower (research/limits.md §7).
 */
export class RelayLoop {
  private wake: (() => void) | undefined;
  private isNudged = false;
  private isPausing = false;
  private running: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    private readonly name: string,
    /** One run; returns how many items it handled. If that is more than 0, the next run follows at once. */
    private readonly runOnce: () => Promise<number>,
    private readonly logger: Logger,
    private readonly pollMs = POLL_MS,
  ) {}

  start(): void {
    this.running ??= this.run();
  }

  /** Starts a run at once, or after the current run or pause. */
  nudge(): void {
    this.isNudged = true;
    if (!this.isPausing) this.wake?.();
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.wake?.();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      this.isNudged = false;
      this.isPausing = false;
      try {
        if ((await this.runOnce()) > 0) continue;
      } catch (error) {
        this.logger.warn({ err: error, loop: this.name }, 'a run failed and will be repeated');
        this.isPausing = true;
      }
      if (this.isPausing) await this.waitFor(2 * this.pollMs);
      else if (!this.isNudged) await this.waitFor(this.pollMs);
    }
  }

  private waitFor(ms: number): Promise<void> {
    if (this.isStopping) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

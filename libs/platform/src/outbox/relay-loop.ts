import type { Logger } from '../logging/logger.ts';

/** The safety net under the nudges: how late a message can be when the process that wrote it died before nudging. */
const POLL_MS = 1000;

/**
 * Runs a round whenever it is nudged, and every second anyway, one at a time, until stopped. After a round that failed it
 * rests for two, nudged or not: every purchase nudges, and a destination that is down needs no storm. Nudging instead of NOTIFY:
 * a NOTIFY in the writing transaction made 64 clients 3.4–5.6 times slower (research/limits.md §7).
 */
export class RelayLoop {
  private wake: (() => void) | undefined;
  private nudged = false;
  private resting = false;
  private running: Promise<void> | undefined;
  private stopping = false;

  constructor(
    private readonly name: string,
    /** One round; how much it did. More may be waiting when it did anything. */
    private readonly runOnce: () => Promise<number>,
    private readonly logger: Logger,
    private readonly pollMs = POLL_MS,
  ) {}

  start(): void {
    this.running ??= this.run();
  }

  nudge(): void {
    this.nudged = true;
    if (!this.resting) this.wake?.();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.wake?.();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      this.nudged = false;
      this.resting = false;
      try {
        if ((await this.runOnce()) > 0) continue;
      } catch (error) {
        this.logger.warn({ err: error, loop: this.name }, 'a round failed and will be run again');
        this.resting = true;
      }
      if (this.resting) await this.waitFor(2 * this.pollMs);
      else if (!this.nudged) await this.waitFor(this.pollMs);
    }
  }

  private waitFor(ms: number): Promise<void> {
    if (this.stopping) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

import type { Logger } from '../logging/logger.ts';

/** The declaration of a periodic task: its row in docs/reference/schedule.md. */
export interface TaskDefinition {
  /** Unique in its service. */
  readonly name: string;
  /** Time from the end of a run to the start of the next run. */
  readonly everyMs: number;
  /** The settings that the interval depends on, if it depends on settings. */
  readonly setting?: string;
  /** What a run does, in one sentence. */
  readonly does: string;
  /**
   * After a failed run the task pauses for two intervals, even if `runSoon` is called. For tasks with frequent calls of `runSoon`:
   * each purchase wakes the relays, and this must not become a storm of attempts while a destination is down.
   */
  readonly pausesAfterFailure?: boolean;
}

/** One run of a task. Returns how many items it handled: if that is more than 0, the next run follows at once. */
export type Run = () => Promise<number | void> | number | void;

/** Runs a function at its interval and when it is asked for, one run at a time. */
export class PeriodicTask {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isRequested = false;
  private pausedTicks = 0;
  private isFailing = false;

  constructor(
    readonly definition: TaskDefinition,
    private readonly runOnce: Run,
    private readonly logger: Logger,
  ) {}

  /** Starts the first run. Returns the timer of the later runs. */
  start(): NodeJS.Timeout {
    this.timer = setInterval(() => this.tick(), this.definition.everyMs);
    this.runSoon();
    return this.timer;
  }

  /**
   * Starts a run at once, or after the current run or pause: the current run may have missed what the caller means. Does nothing
   * while the task is stopped.
   */
  runSoon(): void {
    this.isRequested = true;
    if (this.timer && this.pausedTicks === 0) this.running ??= this.run();
  }

  /** Starts no further run, and waits until the current run has ended. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.timer = undefined;
    await this.running;
  }

  private tick(): void {
    if (this.running) return;
    if (this.pausedTicks > 0) this.pausedTicks -= 1;
    this.runSoon();
  }

  private async run(): Promise<void> {
    do {
      this.isRequested = false;
      if (await this.attempt()) this.isRequested = true;
    } while (this.timer && this.isRequested && this.pausedTicks === 0);
    this.running = undefined;
    // The interval counts from the end of a run.
    this.timer?.refresh();
  }

  /** Runs once. Returns whether the next run must follow at once. An outage is logged once at its start and once at its end. */
  private async attempt(): Promise<boolean> {
    const { name: task, does, pausesAfterFailure } = this.definition;
    try {
      const handled = await this.runOnce();
      if (this.isFailing) this.logger.info({ task }, 'the periodic task works again');
      this.isFailing = false;
      return typeof handled === 'number' && handled > 0;
    } catch (error) {
      if (!this.isFailing) this.logger.warn({ err: error, task, does }, 'a run failed and will be repeated');
      this.isFailing = true;
      if (pausesAfterFailure) this.pausedTicks = 2;
      return false;
    }
  }
}

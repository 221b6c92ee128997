import { DomainError } from '#domain/shared/domain-error';

/**
 * Runs at most `maxRunning` pieces of work at the same time. Further work waits in memory, in the order it came, without a
 * database connection. Use it for work that holds one connection of a pool while it needs a second one: without a limit such work
 * could take all connections and then wait for ever for the second.
 */
export class ConcurrencyLimit {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly maxRunning: number,
    /** When this many pieces of work are waiting, further work is refused with LOCK_TIMEOUT. */
    private readonly maxWaiting: number,
  ) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.maxRunning) this.running += 1;
    else await this.waitForSlot();
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }

  private waitForSlot(): Promise<void> {
    if (this.waiting.length >= this.maxWaiting) {
      throw new DomainError('LOCK_TIMEOUT', 'Too many requests are waiting. Nothing was changed; try again.');
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}

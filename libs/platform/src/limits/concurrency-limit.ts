import { DomainError } from '#domain/shared/domain-error';

/**
 * Lets work through a few at a time; the rest wait their turn in memory, where waiting costs nothing. For work that holds one
 * connection of the pool while it needs another: let through all at once, it would have them all and starve on the next.
 */
export class ConcurrencyLimit {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly count: number,
    /** Whoever comes after so many is better told to come back. */
    private readonly mostWaiting: number,
  ) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running < this.count) this.running += 1;
    else await this.turn();
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }

  private turn(): Promise<void> {
    if (this.waiting.length >= this.mostWaiting) {
      throw new DomainError('LOCK_TIMEOUT', 'More is asked than can be served this moment. Nothing was changed; try again.');
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}

/** A value read from the database, and the time until it becomes wrong because one of the holds in it expires. */
export interface ReadResult<V> {
  readonly value: V;
  readonly validForMs: number;
}

interface CachedRead<V> {
  readonly value: V;
  readonly startedAt: number;
  /** How often `invalidate` had been called when this read began. */
  readonly invalidations: number;
  readonly staleAt: number;
}

/** A cached value is never answered when it is older than this. */
const MAX_AGE_MS = 1000;

/**
 * One value of the database, read once for all requests and cached.
 * - A read serves all requests for one second, or until the first of the holds in it expires.
 * - A request that comes after `invalidate` gets a read that began after it.
 * - One read runs at a time, and reads begin at least `minIntervalMs` apart, however often the value is invalidated. At peak load
 *   requests wait for the next read instead of starting one each.
 */
export class SharedRead<V> {
  private cached: CachedRead<V> | undefined;
  private refreshing: Promise<void> | undefined;
  private lastReadAt = Number.NEGATIVE_INFINITY;
  private invalidations = 0;
  private lastRequestAt = performance.now();

  constructor(
    /** Gets the value of the previous read, so that it can return the same object when nothing has changed. */
    private readonly read: (previous: V | undefined) => Promise<ReadResult<V>>,
    private readonly minIntervalMs: number,
  ) {}

  /** Call this after this process has changed the data: requests after this call get a new read. */
  invalidate(): void {
    this.invalidations += 1;
  }

  /** Time since the last request. */
  get unusedMs(): number {
    return performance.now() - this.lastRequestAt;
  }

  async get(): Promise<V> {
    const { invalidations } = this;
    const requestedAt = performance.now();
    this.lastRequestAt = requestedAt;
    for (;;) {
      const { cached } = this;
      // Only invalidations before this request count, and a read that began after the request is always new enough. Otherwise
      // requests would wait for as long as changes keep coming.
      const isRecent = cached && (cached.startedAt >= requestedAt || performance.now() < cached.staleAt);
      if (isRecent && cached.invalidations >= invalidations) return cached.value;
      this.refreshing ??= this.refresh().finally(() => (this.refreshing = undefined));
      await this.refreshing;
    }
  }

  private async refresh(): Promise<void> {
    const waitMs = this.lastReadAt + this.minIntervalMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const startedAt = performance.now();
    const { invalidations } = this;
    this.lastReadAt = startedAt;
    const { value, validForMs } = await this.read(this.cached?.value);
    // validForMs is counted from the answer, not from the start. So a hold may show for some milliseconds after its end, but the
    // next read is never so early that it still finds the hold.
    const staleAt = Math.min(startedAt + MAX_AGE_MS, performance.now() + validForMs);
    this.cached = { value, startedAt, invalidations, staleAt };
  }
}

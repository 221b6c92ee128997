/** What a look saw, and for how long that can be true by itself: until the next hold in it expires. */
export interface Sight<V> {
  readonly value: V;
  readonly goodForMs: number;
}

/** Old enough to look again: nobody sees anything older. */
const GOOD_FOR_MS = 1000;

/**
 * One look at the database for all who ask. What was seen serves everybody for a second; less when something in it lapses
 * sooner, and not those who ask after a change of our own (`touch`). One look at a time, and however often we are touched, not
 * more often than `spacingMs`: in a rush whoever asks waits for the next instead of causing one.
 */
export class SharedRead<V> {
  private seen: { readonly value: V; readonly startedAt: number; readonly touches: number; readonly staleAt: number } | undefined;
  private looking: Promise<void> | undefined;
  private lookedAt = Number.NEGATIVE_INFINITY;
  private touches = 0;
  private askedAt = performance.now();

  constructor(
    /** `before`: what the look before saw, so that an unchanged world may remain the same value. */
    private readonly read: (before: V | undefined) => Promise<Sight<V>>,
    private readonly spacingMs: number,
  ) {}

  /** Something changed here: who asks from now on sees it. */
  touch(): void {
    this.touches += 1;
  }

  /** How long nobody has asked. */
  get idleMs(): number {
    return performance.now() - this.askedAt;
  }

  async get(): Promise<V> {
    const { touches } = this;
    const askedAt = performance.now();
    this.askedAt = askedAt;
    for (;;) {
      const { seen } = this;
      // What was looked up since it was asked is good enough, or a rush of changes would never let go of the asker.
      if (seen && seen.touches >= touches && (seen.startedAt >= askedAt || performance.now() < seen.staleAt)) return seen.value;
      this.looking ??= this.look().finally(() => (this.looking = undefined));
      await this.looking;
    }
  }

  private async look(): Promise<void> {
    const waitMs = this.lookedAt + this.spacingMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const startedAt = performance.now();
    const { touches } = this;
    this.lookedAt = startedAt;
    const { value, goodForMs } = await this.read(this.seen?.value);
    // Counted from the answer: a hold may be over some milliseconds before we notice, and never after.
    const staleAt = Math.min(startedAt + GOOD_FOR_MS, performance.now() + goodForMs);
    this.seen = { value, startedAt, touches, staleAt };
  }
}

/** An entry of the blacklist: a fan who may not buy until the entry ends. */
export interface ListedFan {
  readonly userId: string;
  /** Remaining time of the entry; null if it has no end. */
  readonly restMs: number | null;
}

/**
 * The blacklist as one process caches it. Each entry comes with its remaining time, not with its end. The process counts this time
 * on its monotonic clock, so the wall clocks of the processes need not agree.
 */
export class ListedFans {
  private endsAtMs: ReadonlyMap<string, number> = new Map();

  /** Replaces the cached blacklist. Returns the fans who were not listed before, or whose earlier entry had ended. */
  replace(listed: readonly ListedFan[], nowMs: number): readonly string[] {
    const before = this.endsAtMs;
    this.endsAtMs = new Map(listed.map(({ userId, restMs }) => [userId, restMs === null ? Infinity : nowMs + restMs]));
    return [...this.endsAtMs.keys()].filter((userId) => !((before.get(userId) ?? -Infinity) > nowMs));
  }

  has(userId: string, nowMs: number): boolean {
    return (this.endsAtMs.get(userId) ?? -Infinity) > nowMs;
  }
}

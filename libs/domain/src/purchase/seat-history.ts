/** Names one state of a sector's seats. `version` is a number given by this process; `tag` is a hash, the same in all processes. */
export interface SeatVersion {
  readonly version: number;
  readonly tag: string;
}

interface VersionChange {
  readonly from: SeatVersion;
  /** Indices of the seats that the next version changed. */
  readonly changed: readonly number[];
}

/**
 * The earlier versions of a sector's seats, stored as the changes from each version to the next. The oldest are dropped when the
 * changes are more than half of the seats, because an answer with all seats is then as short. At peak load a sector of 2,000 seats
 * costs 10 KB here.
 */
export class SeatHistory {
  static readonly none = new SeatHistory([]);

  private constructor(private readonly changes: readonly VersionChange[]) {}

  /** This history and one more change: from `from` to the next version. */
  with(from: SeatVersion, changed: readonly number[], seatCount: number): SeatHistory {
    const changes = [...this.changes, { from, changed }];
    let changedCount = changes.reduce((total, change) => total + change.changed.length, 0);
    let firstKept = 0;
    for (; changedCount > seatCount / 2; firstKept += 1) changedCount -= changes[firstKept]?.changed.length ?? 0;
    return new SeatHistory(changes.slice(firstKept));
  }

  /**
   * Indices of the seats that changed since an earlier version, in ascending order. `name` is its version or its tag. Undefined
   * when the version is unknown.
   */
  changedSince(name: string): readonly number[] | undefined {
    const changedSeats = new Set<number>();
    for (const { from, changed } of this.changes.toReversed()) {
      for (const seatIndex of changed) changedSeats.add(seatIndex);
      if (name === String(from.version) || name === from.tag) return [...changedSeats].sort((a, b) => a - b);
    }
    return undefined;
  }
}

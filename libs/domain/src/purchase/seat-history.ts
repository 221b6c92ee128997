/** A picture of a sector by its names: its number in this process, and what it shows, in whatever process. */
export interface SeatVersion {
  readonly version: number;
  readonly tag: string;
}

interface Step {
  readonly from: SeatVersion;
  /** Places, in the order of the picture, at which the next picture was another. */
  readonly changed: readonly number[];
}

/**
 * The pictures of a sector before the last, as what changed from each to the next. No more is kept than half of the sector has
 * seats: from there on the whole map is as short, and a sector of 2,000 in a rush costs 10 KB here.
 */
export class SeatHistory {
  static readonly none = new SeatHistory([]);

  private constructor(private readonly steps: readonly Step[]) {}

  /** One picture more. */
  with(from: SeatVersion, changed: readonly number[], seats: number): SeatHistory {
    const steps = [...this.steps, { from, changed }];
    let kept = steps.reduce((total, step) => total + step.changed.length, 0);
    let first = 0;
    for (; kept > seats / 2; first += 1) kept -= steps[first]?.changed.length ?? 0;
    return new SeatHistory(steps.slice(first));
  }

  /** Where a picture that is named by its version or its tag differs from now, in order; undefined when it is not known. */
  changedSince(name: string): readonly number[] | undefined {
    const changed = new Set<number>();
    for (const step of this.steps.toReversed()) {
      for (const place of step.changed) changed.add(place);
      if (name === String(step.from.version) || name === step.from.tag) return [...changed].sort((a, b) => a - b);
    }
    return undefined;
  }
}

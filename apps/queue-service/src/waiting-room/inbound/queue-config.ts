/** A hint that got lost is made good within this. */
const LONGEST_ROUND_MS = 1000;

/** The numbers the waiting room runs by, in the units it counts in. */
export class QueueConfig {
  readonly roundMs: number;

  constructor(
    readonly purchaseWindowMs: number,
    readonly persistenceSeconds: number,
    readonly updateMs: number,
    readonly internalSecret: string,
    readonly presenceMs: number,
  ) {
    this.roundMs = Math.min(LONGEST_ROUND_MS, updateMs / 2, presenceMs / 3);
  }

  get persistenceMs(): number {
    return this.persistenceSeconds * 1000;
  }
}

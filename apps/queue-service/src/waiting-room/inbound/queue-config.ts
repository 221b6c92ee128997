/**
 * Longest interval between regular updates of fans. If the publication of a change is lost, a fan gets the new state within this
 * time.
 */
const MAX_RUN_INTERVAL_MS = 1000;

/** The settings of the waiting room, in the units that the code uses. */
export class QueueConfig {
  /** The interval between two regular updates. */
  readonly runIntervalMs: number;

  constructor(
    readonly purchaseWindowMs: number,
    readonly persistenceSeconds: number,
    readonly updateMs: number,
    readonly internalSecret: string,
    readonly presenceMs: number,
  ) {
    this.runIntervalMs = Math.min(MAX_RUN_INTERVAL_MS, updateMs / 2, presenceMs / 3);
  }

  get persistenceMs(): number {
    return this.persistenceSeconds * 1000;
  }
}

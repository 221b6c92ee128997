import { outsideRequests } from './outside-requests.ts';

const NO_KEYS: ReadonlySet<unknown> = new Set();

/** How a batcher makes batches. Omitted limits: batches of up to 500 items, one batch at a time, any number of waiting items. */
export interface BatcherOptions<Item> {
  /** Maximum number of items in a batch. */
  readonly maxBatchSize?: number;
  /** Maximum number of batches in progress. */
  readonly maxInProgress?: number;
  /** While a batch is in progress, fewer waiting items than this are not worth a second batch. */
  readonly minBesideAnother?: number;
  /** Two items with the same key are never in progress together, so the second one sees the effect of the first. */
  readonly keyOf?: (item: Item) => unknown;
  /** All items of a batch have the same group. The oldest waiting item decides which group is next. */
  readonly groupOf?: (item: Item) => unknown;
  /**
   * Calls back when the first batch may start, for example `queueMicrotask` or `setImmediate`: all items that are added until then
   * can share it. Without it the first item starts a batch at once, alone.
   */
  readonly startWith?: (start: () => void) => void;
  /** When this many items wait, a further item is rejected with the error that `error` returns. */
  readonly maxWaiting?: { readonly count: number; readonly error: () => Error };
  /**
   * True for the error of a batch if a further batch would probably fail in the same way, for example a timeout. If no other batch
   * was answered meanwhile, the waiting items are rejected too, so that they do not wait for a second timeout.
   */
  readonly isOutage?: (error: unknown) => boolean;
  /** Called when no item waits and no batch is in progress any more. */
  readonly onIdle?: () => void;
}

/** An item with the promise of its caller. */
interface Entry<Item, Answer> {
  readonly item: Item;
  readonly key: unknown;
  readonly resolve: (answer: Answer | PromiseLike<Answer>) => void;
  readonly reject: (error: unknown) => void;
}

interface Batch<Item, Answer> {
  readonly entries: readonly Entry<Item, Answer>[];
  /** The keys of the entries; empty without `keyOf`. */
  readonly keys: ReadonlySet<unknown>;
}

/**
 * Collects small calls (items) into batches. The items of a batch share one round trip or one transaction.
 *
 *          add()               takeBatch()                  processBatch() resolved
 *   (call) ─────▶  WAITING  ────────────────▶  IN PROGRESS  ───────────────────────▶  ANSWERED
 *                     │                             │
 *                     │ too many wait, or outage    │ processBatch() failed
 *                     └─────────────────────────────┴──────────────────────────────▶  REJECTED
 *
 * - No item is delayed to fill a batch. The first item starts a batch (see `startWith`). Items that arrive while no further batch
 *   may start go into the next batch, which starts when a batch ends.
 * - Batches are made in the order of arrival. An item that must wait because of its key or group keeps its place in that order.
 * - Each item gets its own answer. A failed batch rejects only its own items, unless `isOutage`.
 * - Batches run outside the request context of the callers. Under constant load one batch follows another for hours. If they had
 *   the deadline of the request that started the first one, every batch after that deadline would fail.
 */
export class Batcher<Item, Answer> {
  private readonly waiting: Entry<Item, Answer>[] = [];
  /** The batches in progress. One set with the keys of all of them would keep answered items in memory (see SlotList). */
  private readonly inProgress: Batch<Item, Answer>[] = [];
  /** How many batches were answered. */
  private answeredCount = 0;
  /** True from the call of `startWith` until it calls back. */
  private isStarting = false;
  private readonly maxBatchSize: number;
  private readonly maxInProgress: number;
  private readonly minBesideAnother: number;

  constructor(
    /**
     * Returns one answer for each item, in the same order. An answer may be a promise: the batch ends without it, and its item is
     * answered when the promise settles.
     */
    private readonly processBatch: (items: readonly Item[]) => Promise<readonly (Answer | Promise<Answer>)[]>,
    private readonly options: BatcherOptions<Item> = {},
  ) {
    this.maxBatchSize = options.maxBatchSize ?? 500;
    this.maxInProgress = options.maxInProgress ?? 1;
    this.minBesideAnother = options.minBesideAnother ?? 1;
  }

  /** Adds an item to a batch; resolves to its answer. */
  add(item: Item): Promise<Answer> {
    const { keyOf, maxWaiting, startWith } = this.options;
    return new Promise((resolve, reject) => {
      if (maxWaiting && this.waiting.length >= maxWaiting.count) throw maxWaiting.error();
      this.waiting.push({ item, key: keyOf?.(item), resolve, reject });
      if (this.isStarting || !this.mayStart) return;
      this.isStarting = true;
      if (startWith) outsideRequests(() => startWith(this.start));
      else outsideRequests(this.start);
    });
  }

  private get mayStart(): boolean {
    const minBatch = this.inProgress.length === 0 ? 1 : this.minBesideAnother;
    return this.waiting.length >= minBatch && this.inProgress.length < this.maxInProgress;
  }

  private readonly start = (): void => {
    this.isStarting = false;
    while (this.mayStart) {
      const batch = this.takeBatch();
      if (batch.entries.length === 0) return;
      void this.process(batch);
    }
  };

  private takeBatch(): Batch<Item, Answer> {
    const { keyOf, groupOf } = this.options;
    if (!keyOf && !groupOf) return { entries: this.waiting.splice(0, this.maxBatchSize), keys: NO_KEYS };
    const entries: Entry<Item, Answer>[] = [];
    const keys = new Set<unknown>();
    const later: Entry<Item, Answer>[] = [];
    let examined = 0;
    for (; examined < this.waiting.length && entries.length < this.maxBatchSize; examined += 1) {
      const entry = this.waiting[examined]!;
      const isOfOtherGroup = groupOf && entries[0] && groupOf(entries[0].item) !== groupOf(entry.item);
      const isKeyInProgress = keyOf && (keys.has(entry.key) || this.inProgress.some((other) => other.keys.has(entry.key)));
      if (isOfOtherGroup || isKeyInProgress) later.push(entry);
      else {
        if (keyOf) keys.add(entry.key);
        entries.push(entry);
      }
    }
    this.waiting.splice(0, examined, ...later);
    return { entries, keys };
  }

  private async process(batch: Batch<Item, Answer>): Promise<void> {
    const { entries } = batch;
    this.inProgress.push(batch);
    const answeredBefore = this.answeredCount;
    try {
      const answers = await this.processBatch(entries.map(({ item }) => item));
      this.answeredCount += 1;
      entries.forEach(({ resolve }, index) => resolve(answers[index] as Answer));
    } catch (error) {
      const isOutage = this.answeredCount === answeredBefore && this.options.isOutage?.(error);
      for (const { reject } of isOutage ? [...entries, ...this.waiting.splice(0)] : entries) reject(error);
    }
    this.inProgress.splice(this.inProgress.indexOf(batch), 1);
    if (!this.isStarting) this.start();
    if (this.inProgress.length === 0 && this.waiting.length === 0) this.options.onIdle?.();
  }
}

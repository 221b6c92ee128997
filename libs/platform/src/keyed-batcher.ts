import { requestContext } from './logging/request-context.ts';

/** Default of `most`, the maximum number of items in a batch. */
const MAX_BATCH_SIZE = 500;

interface WaitingItem<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Processes many small reads or writes in batches, each with one round trip. The first item starts a batch at once. Items that
 * arrive while a batch is in progress go into the next batch. Two items with the same key are never in progress together, so
 * the second one sees the effect of the first.
 *
 * Batches run outside the request context of the callers. Under constant load one loop of batches runs for hours. If it had the
 * deadline of the request that started it, every batch after that deadline would fail.
 */
export class KeyedBatcher<Item, Answer> {
  private waiting: WaitingItem<Item, Answer>[] = [];
  private running = 0;
  private readonly keysInProgress = new Set<string>();

  constructor(
    private readonly keyOf: (item: Item) => string,
    /** Returns one answer for each item, in the same order. */
    private readonly processBatch: (items: readonly Item[]) => Promise<readonly Answer[]>,
    /**
     * `most`: maximum number of items in a batch. `rounds`: how many batches may be in progress at the same time.
     */
    private readonly limits: { readonly most?: number; readonly rounds?: number } = {},
  ) {}

  get isIdle(): boolean {
    return this.running === 0 && this.waiting.length === 0;
  }

  /** Adds an item to the next batch; resolves to its answer. */
  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (this.running < (this.limits.rounds ?? 1)) requestContext.exit(() => void this.run());
    });
  }

  private async run(): Promise<void> {
    this.running += 1;
    // Items that are added in the same tick go into the same first batch.
    await Promise.resolve();
    for (let batch = this.nextBatch(); batch.length > 0; batch = this.nextBatch()) {
      try {
        const answers = await this.processBatch(batch.map(({ item }) => item));
        batch.forEach(({ resolve }, index) => resolve(answers[index] as Answer));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      for (const { item } of batch) this.keysInProgress.delete(this.keyOf(item));
    }
    this.running -= 1;
  }

  private nextBatch(): WaitingItem<Item, Answer>[] {
    const batch: WaitingItem<Item, Answer>[] = [];
    const later: WaitingItem<Item, Answer>[] = [];
    const { most: maxBatchSize = MAX_BATCH_SIZE } = this.limits;
    for (const waitingItem of this.waiting) {
      const key = this.keyOf(waitingItem.item);
      if (batch.length === maxBatchSize || this.keysInProgress.has(key)) later.push(waitingItem);
      else {
        this.keysInProgress.add(key);
        batch.push(waitingItem);
      }
    }
    this.waiting = later;
    return batch;
  }
}

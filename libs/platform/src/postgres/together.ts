import { requestContext } from '../logging/request-context.ts';

/** So many in one statement; the next ones wait for the next. */
const MOST_AT_ONCE = 500;

interface Asked<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Many small writes share one statement: whoever comes while one is under way goes along with the next. Nobody waits for
 * company. Two writes of the same key never share one: the second sees what the first has done.
 *
 * A round belongs to none of those who asked. While there is always somebody waiting, one chain of rounds goes on for hours;
 * had it the deadline of whoever began it, everything would fail ten seconds later.
 */
export class Together<Item, Answer> {
  private waiting: Asked<Item, Answer>[] = [];
  private isRunning = false;

  constructor(
    private readonly keyOf: (item: Item) => string,
    /** Answers in the order of the items. */
    private readonly writeAll: (items: readonly Item[]) => Promise<readonly Answer[]>,
  ) {}

  write(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (!this.isRunning) requestContext.exit(() => void this.run());
    });
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    // Everybody of this turn of the event loop comes along with the first.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const batch = this.nextBatch();
      try {
        const answers = await this.writeAll(batch.map(({ item }) => item));
        batch.forEach(({ resolve }, index) => resolve(answers[index] as Answer));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isRunning = false;
  }

  private nextBatch(): Asked<Item, Answer>[] {
    const keys = new Set<string>();
    const batch: Asked<Item, Answer>[] = [];
    const later: Asked<Item, Answer>[] = [];
    for (const asked of this.waiting) {
      const key = this.keyOf(asked.item);
      if (batch.length === MOST_AT_ONCE || keys.has(key)) later.push(asked);
      else {
        keys.add(key);
        batch.push(asked);
      }
    }
    this.waiting = later;
    return batch;
  }
}

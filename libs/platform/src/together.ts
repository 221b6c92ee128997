import { requestContext } from './logging/request-context.ts';

/** So many in one round; the next ones wait for the next. */
const MOST_AT_ONCE = 500;

interface Asked<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Many small questions or writes share one round trip: whoever comes while one is under way goes along with the next. Nobody
 * waits for company. Two of the same key never share one: the second sees what the first has done.
 *
 * A round belongs to none of those who asked. While there is always somebody waiting, one chain of rounds goes on for hours;
 * had it the deadline of whoever began it, everything would fail ten seconds later.
 */
export class Together<Item, Answer> {
  private waiting: Asked<Item, Answer>[] = [];
  private running = 0;
  private readonly underWay = new Set<string>();

  constructor(
    private readonly keyOf: (item: Item) => string,
    /** Answers in the order of the items. */
    private readonly doAll: (items: readonly Item[]) => Promise<readonly Answer[]>,
    /** `most` in a round. `rounds` are under way at the same time, never two with the same key. */
    private readonly limits: { readonly most?: number; readonly rounds?: number } = {},
  ) {}

  get isIdle(): boolean {
    return this.running === 0 && this.waiting.length === 0;
  }

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (this.running < (this.limits.rounds ?? 1)) requestContext.exit(() => void this.run());
    });
  }

  private async run(): Promise<void> {
    this.running += 1;
    // Everybody of this turn of the event loop comes along with the first.
    await Promise.resolve();
    for (let batch = this.nextBatch(); batch.length > 0; batch = this.nextBatch()) {
      try {
        const answers = await this.doAll(batch.map(({ item }) => item));
        batch.forEach(({ resolve }, index) => resolve(answers[index] as Answer));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      for (const { item } of batch) this.underWay.delete(this.keyOf(item));
    }
    this.running -= 1;
  }

  private nextBatch(): Asked<Item, Answer>[] {
    const batch: Asked<Item, Answer>[] = [];
    const later: Asked<Item, Answer>[] = [];
    const { most = MOST_AT_ONCE } = this.limits;
    for (const asked of this.waiting) {
      const key = this.keyOf(asked.item);
      if (batch.length === most || this.underWay.has(key)) later.push(asked);
      else {
        this.underWay.add(key);
        batch.push(asked);
      }
    }
    this.waiting = later;
    return batch;
  }
}

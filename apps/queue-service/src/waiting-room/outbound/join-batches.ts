const MOST_JOINS = 100;
/** While Redis works on one batch the next is on its way; more would only make them smaller. */
const MOST_IN_FLIGHT = 3;

export interface WaitingJoin<Outcome> {
  readonly userId: string;
  readonly receiptScore: string;
  readonly done: (outcome: Outcome) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Collects the joins of one match in this process: a lone one leaves at once, and while batches are on their way the next
 * ones fill up. One script call for a hundred joins costs a third of a hundred calls (research/limits.md §3). Their order is
 * the order of arrival, and each is answered on its own; a batch that fails fails for its own joins only.
 */
export class JoinBatches<Outcome> {
  private waiting: WaitingJoin<Outcome>[] = [];
  private inFlight = 0;

  constructor(private readonly send: (joins: readonly WaitingJoin<Outcome>[]) => Promise<readonly Outcome[]>) {}

  get isIdle(): boolean {
    return this.inFlight === 0 && this.waiting.length === 0;
  }

  add(userId: string, receiptScore: string): Promise<Outcome> {
    return new Promise((done, failed) => {
      this.waiting.push({ userId, receiptScore, done, failed });
      this.sendDue();
    });
  }

  private sendDue(): void {
    while (this.waiting.length > 0 && (this.inFlight === 0 || (this.inFlight < MOST_IN_FLIGHT && this.isFull))) {
      void this.sendOne(this.takeBatch());
    }
  }

  private get isFull(): boolean {
    return this.waiting.length >= MOST_JOINS;
  }

  /** A fan who asks twice at once is answered from two batches, so that the second finds what the first has made. */
  private takeBatch(): WaitingJoin<Outcome>[] {
    const batch = new Map<string, WaitingJoin<Outcome>>();
    const later: WaitingJoin<Outcome>[] = [];
    let looked = 0;
    for (const join of this.waiting) {
      if (batch.size === MOST_JOINS) break;
      looked += 1;
      if (batch.has(join.userId)) later.push(join);
      else batch.set(join.userId, join);
    }
    this.waiting = [...later, ...this.waiting.slice(looked)];
    return [...batch.values()];
  }

  private async sendOne(batch: readonly WaitingJoin<Outcome>[]): Promise<void> {
    this.inFlight += 1;
    try {
      const outcomes = await this.send(batch);
      batch.forEach((join, at) => join.done(outcomes[at]!));
    } catch (error) {
      for (const join of batch) join.failed(error);
    } finally {
      this.inFlight -= 1;
      this.sendDue();
    }
  }
}

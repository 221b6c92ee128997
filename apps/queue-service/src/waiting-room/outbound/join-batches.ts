const MOST_JOINS = 100;
/** Full ones: Redis finds the next batch there whenever it has done one, also while this process is busy (a ninth more joins than with three). */
const MOST_IN_FLIGHT = 10;

export interface WaitingJoin<Outcome> {
  readonly userId: string;
  readonly receiptScore: string;
  readonly done: (outcome: Outcome) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Collects the joins of one match in this process: a lone one leaves at once, and while batches are on their way the next
 * ones fill up. One script call for a hundred joins costs a third of a hundred calls (research/limits.md §3). Their order is
 * the order of arrival, and each is answered on its own; a batch that fails fails for its own joins only. Unless Redis has said
 * nothing to anybody for as long as a command may take: who waits has then waited enough, and need not wait as long once more.
 */
export class JoinBatches<Outcome> {
  private waiting: WaitingJoin<Outcome>[] = [];
  private inFlight = 0;
  private answers = 0;

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
    const answersBefore = this.answers;
    try {
      const outcomes = await this.send(batch);
      this.answers += 1;
      batch.forEach((join, at) => join.done(outcomes[at]!));
    } catch (error) {
      const isSilence = hasTimedOut(error) && this.answers === answersBefore;
      const failed = isSilence ? [...batch, ...this.waiting.splice(0)] : batch;
      for (const join of failed) join.failed(error);
    } finally {
      this.inFlight -= 1;
      this.sendDue();
    }
  }
}

function hasTimedOut(error: unknown): boolean {
  // ioredis' own words, and no class or code of their own.
  return error instanceof Error && error.message === 'Command timed out';
}

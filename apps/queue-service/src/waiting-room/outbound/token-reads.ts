/** Redis works on a hundred for a millisecond or two. */
const MOST_READS = 100;

export interface TokenToRead {
  readonly userId: string;
  readonly token: string;
  /** Of the connection that has just come, or ''. */
  readonly websocketId: string;
}

interface WaitingRead<Answer> extends TokenToRead {
  readonly done: (answer: Answer) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Collects what is asked about tokens of one match: a lone one leaves at once, and while an answer is on its way the next ones
 * fill up. When a pod dies, thousands come to the others within seconds: alone each costs two calls, 130 µs of Redis and as
 * much of the pod. One batch at a time keeps the pod's commands short of their time-out, whatever comes.
 */
export class TokenReads<Answer> {
  private waiting: WaitingRead<Answer>[] = [];
  private isReading = false;

  constructor(private readonly read: (tokens: readonly TokenToRead[]) => Promise<readonly Answer[]>) {}

  get isIdle(): boolean {
    return !this.isReading && this.waiting.length === 0;
  }

  add(token: TokenToRead): Promise<Answer> {
    return new Promise((done, failed) => {
      this.waiting.push({ ...token, done, failed });
      if (!this.isReading) void this.readWaiting();
    });
  }

  private async readWaiting(): Promise<void> {
    this.isReading = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, MOST_READS);
      try {
        const answers = await this.read(batch);
        batch.forEach(({ done }, at) => done(answers[at]!));
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    this.isReading = false;
  }
}

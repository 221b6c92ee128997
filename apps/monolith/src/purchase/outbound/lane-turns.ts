/** So many waiting are worth a batch of their own while another lane commits. */
const WORTH_A_BATCH = 48;
/** A lane whose batch hangs holds up nobody for longer; a batch takes 5 to 20 ms. */
const PATIENCE_MS = 50;

interface Waiting {
  readonly count: () => number;
  readonly go: () => void;
}

/**
 * When the lanes of a process may send a batch. A batch costs the database as much as five holds before it does anything, so a
 * lane with few waiting lets the one under way finish, and has more by then: the lanes take turns. In a rush, when there are
 * enough for each, they go side by side.
 */
export class LaneTurns {
  private underWay = 0;
  private readonly waiting: Waiting[] = [];

  constructor(private readonly worthABatch = WORTH_A_BATCH) {}

  /** Resolves when it is this lane's turn; `count`: how many it has waiting by now. */
  async begin(count: () => number): Promise<void> {
    if (this.underWay === 0 || count() >= this.worthABatch) {
      this.underWay += 1;
      return;
    }
    await new Promise<void>((resolve) => {
      const waiting = { count, go: () => (clearTimeout(timer), resolve()) };
      const timer = setTimeout(() => this.admit(waiting), PATIENCE_MS);
      this.waiting.push(waiting);
    });
  }

  /** The turn goes to who has waited longest. */
  end(): void {
    this.underWay -= 1;
    const [next] = this.waiting;
    if (next) this.admit(next);
  }

  /** Somebody has more waiting now. */
  nudge(): void {
    const ready = this.waiting.find(({ count }) => count() >= this.worthABatch);
    if (ready) this.admit(ready);
  }

  private admit(waiting: Waiting): void {
    const index = this.waiting.indexOf(waiting);
    if (index < 0) return;
    this.waiting.splice(index, 1);
    this.underWay += 1;
    waiting.go();
  }
}

import { positionStep } from './position-steps.ts';

/** Scores (join times) that left the line in one step, or came back into it. Numbered without gaps. */
export interface LineMove {
  readonly number: number;
  readonly isBack: boolean;
  readonly scores: readonly number[];
}

/** What a fan was last told, as a step (0: nothing yet), and when the next message is due anyway. */
interface Told {
  readonly toldStep: number;
  readonly dueAtMs: number;
}

interface Newcomer extends Told {
  readonly score: number;
  position: number;
  /** The last move its position includes. */
  asOf: number;
  dueAtMs: number;
}

/** Of those who are due. */
export interface Part {
  readonly last?: number;
  readonly after?: number;
  readonly most?: number;
}

const NOTHING_YET: Told = { toldStep: 0, dueAtMs: 0 };

/** Moves kept for newcomers whose position was read a moment before the latest ones. */
const REMEMBERED_MOVES = 64;

/**
 * The positions of some fans of one line, kept without asking for them: who joins later stands behind, so a position only
 * changes by the moves in front of it. Fans are kept in the order of the line, in typed arrays, so that 100,000 of them
 * follow 700 departures in well under a millisecond. Also knows whom to tell: `dueAtMs`, or a step worth a message.
 */
export class LineView<Fan> {
  private fans: (Fan | undefined)[] = [];
  private scores = new Float64Array(0);
  private positions = new Int32Array(0);
  /** positionStep of what the fan was last told; 0 before that. */
  private toldSteps = new Int32Array(0);
  private dueAtMs = new Float64Array(0);
  private holes = 0;
  private readonly newcomers = new Map<Fan, Newcomer>();
  private readonly recent: LineMove[] = [];

  /** `moves`: the number of the last one included. */
  constructor(public moves: number) {}

  get size(): number {
    return this.fans.length - this.holes + this.newcomers.size;
  }

  /** `asOf` is the last move the position includes. False when it is too old to be caught up with: read it again. */
  add(fan: Fan, entry: { score: number; position: number; asOf: number }, told = NOTHING_YET): boolean {
    const missed = this.recent.filter(({ number }) => number > entry.asOf);
    if (entry.asOf < this.moves - missed.length) return false;
    const newcomer: Newcomer = { ...entry, ...told };
    for (const move of missed) follow(newcomer, move);
    this.newcomers.set(fan, newcomer);
    return true;
  }

  remove(fan: Fan, score: number): void {
    if (this.newcomers.delete(fan)) return;
    const at = this.find(fan, score);
    if (at !== undefined) this.cut(at);
  }

  positionOf(fan: Fan, score: number): number | undefined {
    const newcomer = this.newcomers.get(fan);
    if (newcomer) return newcomer.position;
    const at = this.find(fan, score);
    return at === undefined ? undefined : this.positions[at];
  }

  /** Undefined for a fan who is not here. */
  toldOf(fan: Fan, score: number): Told | undefined {
    const newcomer = this.newcomers.get(fan);
    if (newcomer) return { toldStep: newcomer.toldStep, dueAtMs: newcomer.dueAtMs };
    const at = this.find(fan, score);
    return at === undefined ? undefined : { toldStep: this.toldSteps[at]!, dueAtMs: this.dueAtMs[at]! };
  }

  /** Returns the fans who left the line themselves; undefined when a move is missing, after which nothing here is true. */
  apply(moves: readonly LineMove[]): Fan[] | undefined {
    const left: Fan[] = [];
    const change = new Int32Array(this.fans.length + 1);
    for (const move of moves) {
      if (move.number !== this.moves + 1) return undefined;
      this.moves = move.number;
      const by = move.isBack ? 1 : -1;
      for (const score of move.scores) {
        const at = lowerBound(this.scores, score);
        let behind = at;
        while (this.scores[behind] === score) behind += 1;
        change[behind]! += by;
        if (!move.isBack) for (let own = at; own < behind; own += 1) this.leave(own, left);
      }
      const sorted = { ...move, scores: move.scores.toSorted((a, b) => a - b) };
      for (const [fan, newcomer] of this.newcomers) if (!follow(newcomer, sorted)) this.leaveNew(fan, left);
      this.recent.push(sorted);
    }
    if (this.recent.length > REMEMBERED_MOVES) this.recent.splice(0, this.recent.length - REMEMBERED_MOVES);
    let sum = 0;
    for (let at = 0; at < this.positions.length; at += 1) {
      sum += change[at]!;
      this.positions[at]! += sum;
    }
    this.settle();
    return left;
  }

  /**
   * Who is to be told now, in the order of the line, down to `last`; a few at a time by `most` and `after`, the score of the one
   * before. Takes them for told, and due again at `nextDueMs(score)`.
   */
  takeDue(
    nowMs: number,
    nextDueMs: (score: number) => number,
    { last = Infinity, after = -Infinity, most = Infinity }: Part = {},
  ): { fan: Fan; position: number }[] {
    this.settle();
    const due: { fan: Fan; position: number }[] = [];
    for (let at = lowerBound(this.scores, after); at < this.fans.length && due.length < most; at += 1) {
      const position = this.positions[at]!;
      if (position > last) break;
      const step = positionStep(position);
      if (step === this.toldSteps[at] && nowMs < this.dueAtMs[at]!) continue;
      const fan = this.fans[at];
      if (fan === undefined) continue;
      this.toldSteps[at] = step;
      this.dueAtMs[at] = nextDueMs(this.scores[at]!);
      due.push({ fan, position });
    }
    return due;
  }

  /** Something changed that everybody should hear. */
  makeAllDue(): void {
    this.dueAtMs.fill(0);
    for (const newcomer of this.newcomers.values()) newcomer.dueAtMs = 0;
  }

  private leave(at: number, left: Fan[]): void {
    const fan = this.fans[at];
    if (fan === undefined) return;
    left.push(fan);
    this.cut(at);
  }

  private leaveNew(fan: Fan, left: Fan[]): void {
    this.newcomers.delete(fan);
    left.push(fan);
  }

  private cut(at: number): void {
    this.fans[at] = undefined;
    this.holes += 1;
  }

  private find(fan: Fan, score: number): number | undefined {
    for (let at = lowerBound(this.scores, score); this.scores[at] === score; at += 1) if (this.fans[at] === fan) return at;
    return undefined;
  }

  /** Brings newcomers to their places and closes the holes. Those whose position is ahead of us wait for the moves between. */
  private settle(): void {
    const ready = [...this.newcomers].filter(([, { asOf }]) => asOf <= this.moves);
    if (ready.length === 0 && this.holes * 8 <= this.fans.length) return;
    ready.sort(([, a], [, b]) => a.score - b.score);
    const size = this.fans.length - this.holes + ready.length;
    const next = {
      fans: Array.from<Fan | undefined>({ length: size }),
      scores: new Float64Array(size),
      positions: new Int32Array(size),
      toldSteps: new Int32Array(size),
      dueAtMs: new Float64Array(size),
    };
    let [from, fresh] = [0, 0];
    for (let to = 0; to < size; to += 1) {
      while (from < this.fans.length && this.fans[from] === undefined) from += 1;
      const [fan, newcomer] = ready[fresh] ?? [];
      if (newcomer && (from >= this.fans.length || newcomer.score < this.scores[from]!)) {
        next.fans[to] = fan;
        next.scores[to] = newcomer.score;
        next.positions[to] = newcomer.position;
        next.toldSteps[to] = newcomer.toldStep;
        next.dueAtMs[to] = newcomer.dueAtMs;
        this.newcomers.delete(fan!);
        fresh += 1;
      } else {
        next.fans[to] = this.fans[from];
        next.scores[to] = this.scores[from]!;
        next.positions[to] = this.positions[from]!;
        next.toldSteps[to] = this.toldSteps[from]!;
        next.dueAtMs[to] = this.dueAtMs[from]!;
        from += 1;
      }
    }
    Object.assign(this, next);
    this.holes = 0;
  }
}

/** Moves a newcomer's position by a move (its scores sorted) it does not include yet. False when it is the one who left. */
function follow(newcomer: Newcomer, { number, isBack, scores }: LineMove): boolean {
  if (number <= newcomer.asOf) return true;
  newcomer.asOf = number;
  const before = lowerBound(scores, newcomer.score);
  newcomer.position += isBack ? before : -before;
  return isBack || scores[before] !== newcomer.score;
}

/** The first index whose value is not below. */
function lowerBound(sorted: ArrayLike<number>, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

import type { QueueState } from '../domain/fan-state.ts';
import { LineView, type Part } from '../domain/line-view.ts';
import { positionStep } from '../domain/position-steps.ts';
import type { LiveFan } from './live-fans.ts';
import type { ConnectedFans, QueueEntry } from './ports.ts';

/** Redis answers this many ranks in about a third of a millisecond. */
const SNAPSHOT_CHUNK = 200;
/** Nothing we know of makes the moves wrong; should something, it is wrong for so long. */
const REPAIR_MS = 60_000;
/** A thousand moves a read, each of up to two hundred fans. */
const MOST_READS = 20;

interface Snapshot {
  readonly view: LineView<LiveFan>;
  readonly epoch: string;
  readonly balance: number;
}

/**
 * One line as this pod sees it: the positions of its own fans, kept by the moves of the line, one small read a round however
 * many fans there are. A snapshot (their ranks) starts it, repairs it now and then, and replaces it after a gap or a new epoch.
 */
export class FollowedLine {
  private view: LineView<LiveFan> | undefined;
  private epoch = '';
  private revision = -1;
  /** Length of the line without those who joined at its end: what the moves alone make of it. */
  private balance = 0;
  private snapshotAtMs = -Infinity;
  /** What came in while a snapshot was being read; it may have passed that fan already. */
  private duringSnapshot: (() => void)[] | undefined;

  /** The fans have been told that nothing can be read at the moment. */
  isDelayed = false;

  constructor(
    readonly matchId: string,
    private readonly entries: ConnectedFans,
    /** When a fan with this score, told now, is due for the next regular message. */
    private readonly nextDueMs: (score: number, nowMs: number) => number,
  ) {}

  /** A fan whose place was just read and told. */
  note(fan: LiveFan, entry: QueueEntry, nowMs: number): void {
    this.duringSnapshot?.push(() => this.note(fan, entry, nowMs));
    if (fan.devices.length === 0) return;
    const { state, queue, score } = entry;
    this.forget(fan);
    fan.told = state.kind === 'granted' ? 'granted' : 'waiting';
    if (state.kind !== 'waiting' || score === null) return;
    fan.score = Number(score);
    if (!this.view) {
      // The first fan of a match: an empty view as of this moment is a whole one.
      this.view = new LineView(queue.moves);
      this.epoch = queue.epoch;
      this.balance = queue.total - queue.joins;
      this.revision = queue.revision;
      this.snapshotAtMs = nowMs;
    }
    const told = { toldStep: positionStep(state.position), dueAtMs: this.nextDueMs(fan.score, nowMs) };
    const at = { score: fan.score, position: state.position, asOf: queue.moves };
    const isKnown = this.epoch === queue.epoch && this.view.add(fan, at, told);
    // The next update takes everybody's ranks anew, this fan's among them.
    if (!isKnown) this.snapshotAtMs = -Infinity;
  }

  forget(fan: LiveFan): void {
    if (fan.score !== undefined) this.view?.remove(fan, fan.score);
    fan.score = undefined;
  }

  makeAllDue(): void {
    this.view?.makeAllDue();
  }

  /**
   * Brings the positions up to date. Returns the queue, and the fans who are not in line (any more); undefined when the match
   * has no queue.
   */
  async update(fans: readonly LiveFan[], nowMs: number): Promise<{ queue: QueueState; unclear: LiveFan[] } | undefined> {
    const unclear: LiveFan[] = [];
    let isCurrent = this.view !== undefined && nowMs - this.snapshotAtMs < REPAIR_MS;
    for (let tries = 0; tries < MOST_READS; tries += 1) {
      if (!isCurrent && !(await this.takeSnapshot(fans, nowMs))) return undefined;
      const view = this.view!;
      const read = await this.entries.readMoves(this.matchId, view.moves);
      if (!read) return undefined;
      const left = read.queue.epoch === this.epoch ? view.apply(read.moves) : undefined;
      for (const fan of left ?? []) {
        fan.score = undefined;
        unclear.push(fan);
      }
      // Fewer moves than there are: a gap. More known than there are: Redis has lost some.
      const isBehind = view.moves < read.queue.moves;
      isCurrent = left !== undefined && view.moves <= read.queue.moves && !(isBehind && read.moves.length === 0);
      for (const { isBack, scores } of read.moves) this.balance += isBack ? scores.length : -scores.length;
      if (!isCurrent || isBehind) continue;
      // Somebody changed the line past the scripts, or a failover lost a part of it.
      isCurrent = this.balance === read.queue.total - read.queue.joins;
      if (!isCurrent) continue;
      if (read.queue.revision !== this.revision) this.makeAllDue();
      this.revision = read.queue.revision;
      return { queue: read.queue, unclear };
    }
    throw new Error(`The line of ${this.matchId} moves faster than it can be read.`);
  }

  takeDue(nowMs: number, part: Part): { fan: LiveFan; position: number }[] {
    return this.view?.takeDue(nowMs, (score) => this.nextDueMs(score, nowMs), part) ?? [];
  }

  /** False when the match has no queue. */
  private async takeSnapshot(fans: readonly LiveFan[], nowMs: number): Promise<boolean> {
    this.duringSnapshot = [];
    try {
      const snapshot = await this.readSnapshot(fans);
      if (!snapshot) return false;
      this.view = snapshot.view;
      this.epoch = snapshot.epoch;
      this.balance = snapshot.balance;
      this.snapshotAtMs = nowMs;
      const late = this.duringSnapshot;
      this.duringSnapshot = undefined;
      for (const note of late) note();
      return true;
    } finally {
      this.duringSnapshot = undefined;
    }
  }

  private async readSnapshot(fans: readonly LiveFan[]): Promise<Snapshot | undefined> {
    let made: Snapshot | undefined;
    for (let from = 0; from < fans.length; from += SNAPSHOT_CHUNK) {
      const chunk = fans.slice(from, from + SNAPSHOT_CHUNK);
      const { positions, scores, queue } = await this.entries.readPositions(
        this.matchId,
        chunk.map(({ userId }) => userId),
      );
      if (!queue) return undefined;
      if (made && made.epoch !== queue.epoch) return this.readSnapshot(fans);
      made ??= { view: new LineView(queue.moves), epoch: queue.epoch, balance: queue.total - queue.joins };
      for (const [at, fan] of chunk.entries()) {
        // Who has none left the line or is gone; the caller looks at each fan without a score.
        const score = positions[at]! > 0 && fan.devices.length > 0 ? (scores[at] ?? undefined) : undefined;
        const told = fan.score === undefined ? undefined : this.view?.toldOf(fan, fan.score);
        if (score === undefined) this.forget(fan);
        else made.view.add(fan, { score, position: positions[at]!, asOf: queue.moves }, told);
        fan.score = score;
      }
    }
    return made;
  }
}

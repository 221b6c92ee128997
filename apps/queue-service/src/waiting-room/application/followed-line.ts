import type { QueueState } from '../domain/fan-state.ts';
import { LineView, type DueRange } from '../domain/line-view.ts';
import { positionStep } from '../domain/position-steps.ts';
import type { LiveFan } from './live-fans.ts';
import type { ConnectedFans, QueueEntry } from './ports.ts';

/** How many positions one call reads. Redis reads 200 in about a third of a millisecond. */
const SNAPSHOT_CHUNK = 200;
/** How often all positions are read again, so that an error in the computed positions lasts at most this long. */
const SNAPSHOT_INTERVAL_MS = 60_000;
/**
 * How many times one update reads the moves of a line at most. A read returns up to a thousand moves, each with up to two hundred
 * fans.
 */
const MAX_READS = 20;

/** Positions of fans, and the values that tell whether they are still those of the line in Redis. */
interface Snapshot {
  readonly view: LineView<LiveFan>;
  readonly epoch: string;
  /**
   * The number of fans in the line minus the number of fans who have ever joined at the end of the line. Only moves (departures
   * and returns) change this difference. If it differs between this pod and Redis, one of the two lacks
   * a change.
   */
  balance: number;
}

/**
 * The positions of this pod's fans in one line. An update reads only the new moves of the line (who left, who came back), however
 * many fans are connected. A snapshot reads the positions of all these fans. It is taken at the start, once a minute as a repair,
 * after a gap in the moves, and when a new epoch has made all positions void.
 */
export class FollowedLine {
  private snapshot: Snapshot | undefined;
  private snapshotAtMs = -Infinity;
  private revision = -1;
  /** Calls of `follow` during the read of a snapshot, repeated after it: the snapshot may lack these fans. */
  private followedDuringSnapshot: (() => void)[] | undefined;

  /** True when the fans were sent the message `delayed`, because the line cannot be read at the moment. */
  isDelayed = false;

  constructor(
    readonly matchId: string,
    private readonly connectedFans: ConnectedFans,
    /** For a fan with this score (join time) who gets a message at `nowMs`: the time of the next regular message. */
    private readonly nextDueMs: (score: number, nowMs: number) => number,
  ) {}

  /** Starts to follow the position of a fan whose queue entry was just read and sent. */
  follow(fan: LiveFan, entry: QueueEntry, nowMs: number): void {
    this.followedDuringSnapshot?.push(() => this.follow(fan, entry, nowMs));
    if (fan.devices.length === 0) return;
    const { state, queue, score } = entry;
    this.unfollow(fan);
    fan.lastSent = state.kind === 'granted' ? 'granted' : 'waiting';
    if (state.kind !== 'waiting' || score === null) return;
    fan.score = Number(score);
    if (!this.snapshot) {
      // This is the first fan of the match on this pod, so no other positions are needed: an empty view that applies the moves
      // from now on is complete.
      this.snapshot = emptySnapshot(queue);
      this.revision = queue.revision;
      this.snapshotAtMs = nowMs;
    }
    const sent = { sentStep: positionStep(state.position), dueAtMs: this.nextDueMs(fan.score, nowMs) };
    const standing = { score: fan.score, position: state.position, asOf: queue.moves };
    const isAdded = this.snapshot.epoch === queue.epoch && this.snapshot.view.add(fan, standing, sent);
    // Not added: the position is of another epoch, or so old that the view no longer keeps all moves since then. The next update
    // takes a new snapshot, which includes this fan.
    if (!isAdded) this.snapshotAtMs = -Infinity;
  }

  unfollow(fan: LiveFan): void {
    if (fan.score !== undefined) this.snapshot?.view.remove(fan, fan.score);
    fan.score = undefined;
  }

  makeAllDue(): void {
    this.snapshot?.view.makeAllDue();
  }

  /**
   * Brings the positions up to date. Returns the queue and the fans who have just left the line; their tokens must be read one by
   * one. Undefined when the match has no queue.
   */
  async update(fans: readonly LiveFan[], nowMs: number): Promise<{ queue: QueueState; leavers: LiveFan[] } | undefined> {
    const leavers: LiveFan[] = [];
    let isCurrent = this.snapshot !== undefined && nowMs - this.snapshotAtMs < SNAPSHOT_INTERVAL_MS;
    for (let tries = 0; tries < MAX_READS; tries += 1) {
      if (!isCurrent && !(await this.takeSnapshot(fans, nowMs))) return undefined;
      const snapshot = this.snapshot!;
      const { view } = snapshot;
      const read = await this.connectedFans.readMoves(this.matchId, view.moves);
      if (!read) return undefined;
      const left = read.queue.epoch === snapshot.epoch ? view.apply(read.moves) : undefined;
      for (const fan of left ?? []) {
        fan.score = undefined;
        leavers.push(fan);
      }
      // Redis has more moves than the view: read again, but if this read returned none, moves are missing. Redis has fewer moves
      // than the view: it has lost some. If moves are missing or lost, the next try starts with a new snapshot.
      const isBehind = view.moves < read.queue.moves;
      isCurrent = left !== undefined && view.moves <= read.queue.moves && !(isBehind && read.moves.length === 0);
      for (const { isBack, scores } of read.moves) snapshot.balance += isBack ? scores.length : -scores.length;
      if (!isCurrent || isBehind) continue;
      // If `balance` differs, the line was changed without a move, or a failover of Redis lost a part of the line.
      isCurrent = snapshot.balance === read.queue.total - read.queue.joins;
      if (!isCurrent) continue;
      if (read.queue.revision !== this.revision) this.makeAllDue();
      this.revision = read.queue.revision;
      return { queue: read.queue, leavers };
    }
    throw new Error(`The line of ${this.matchId} changes faster than it can be read.`);
  }

  takeDue(nowMs: number, range: DueRange): { fan: LiveFan; position: number }[] {
    return this.snapshot?.view.takeDue(nowMs, (score) => this.nextDueMs(score, nowMs), range) ?? [];
  }

  /** Replaces the view by positions that are all read again. False when the match has no queue. */
  private async takeSnapshot(fans: readonly LiveFan[], nowMs: number): Promise<boolean> {
    this.followedDuringSnapshot = [];
    try {
      const snapshot = await this.readSnapshot(fans);
      if (!snapshot) return false;
      this.snapshot = snapshot;
      this.snapshotAtMs = nowMs;
      const pending = this.followedDuringSnapshot;
      this.followedDuringSnapshot = undefined;
      for (const follow of pending) follow();
      return true;
    } finally {
      this.followedDuringSnapshot = undefined;
    }
  }

  private async readSnapshot(fans: readonly LiveFan[]): Promise<Snapshot | undefined> {
    let snapshot: Snapshot | undefined;
    for (let from = 0; from < fans.length; from += SNAPSHOT_CHUNK) {
      const chunk = fans.slice(from, from + SNAPSHOT_CHUNK);
      const { positions, scores, queue } = await this.connectedFans.readPositions(
        this.matchId,
        chunk.map(({ userId }) => userId),
      );
      if (!queue) return undefined;
      if (snapshot && snapshot.epoch !== queue.epoch) return this.readSnapshot(fans);
      snapshot ??= emptySnapshot(queue);
      for (const [index, fan] of chunk.entries()) {
        // The score is undefined for a fan who left the line or disconnected. If such a fan is connected, FanUpdates reads the
        // fan's state afterwards.
        const score = positions[index]! > 0 && fan.devices.length > 0 ? (scores[index] ?? undefined) : undefined;
        const sent = fan.score === undefined ? undefined : this.snapshot?.view.sentStateOf(fan, fan.score);
        if (score === undefined) this.unfollow(fan);
        else snapshot.view.add(fan, { score, position: positions[index]!, asOf: queue.moves }, sent);
        fan.score = score;
      }
    }
    return snapshot;
  }
}

/** A snapshot without fans that is complete up to the moves that this state of the queue includes. */
function emptySnapshot(queue: QueueState): Snapshot {
  return { view: new LineView(queue.moves), epoch: queue.epoch, balance: queue.total - queue.joins };
}

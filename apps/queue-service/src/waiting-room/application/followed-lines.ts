import { FollowedLine } from './followed-line.ts';
import type { ConnectedFans } from './ports.ts';

interface UpdateTimes {
  /** A waiting fan gets a message at least this often. */
  readonly updateMs: number;
  /** How often the regular update runs. Each run sends the messages whose time has come. */
  readonly runIntervalMs: number;
}

/**
 * A regular message is sent up to 5 % early. How early depends on the score (join time), so that 5,000 fans do not get it at the
 * same moment.
 */
const EARLY_SHARE = 0.05;

/** The lines in which fans connected to this pod wait. A pod follows a line as long as it has a connected fan in it. */
export class FollowedLines {
  private readonly lines = new Map<string, FollowedLine>();

  constructor(
    private readonly connectedFans: ConnectedFans,
    private readonly times: UpdateTimes,
  ) {}

  /** Starts to follow the line if this pod does not follow it yet. */
  of(matchId: string): FollowedLine {
    let line = this.lines.get(matchId);
    if (!line) {
      line = new FollowedLine(matchId, this.connectedFans, this.nextDueMs);
      this.lines.set(matchId, line);
    }
    return line;
  }

  find(matchId: string): FollowedLine | undefined {
    return this.lines.get(matchId);
  }

  delete(matchId: string): void {
    this.lines.delete(matchId);
  }

  /**
   * The time of a fan's next message. It is one run interval early: a message that just misses a run is sent by the next run,
   * still within `updateMs`.
   */
  private readonly nextDueMs = (score: number, nowMs: number): number => {
    const { updateMs, runIntervalMs } = this.times;
    return nowMs + (updateMs - runIntervalMs) * (1 - EARLY_SHARE * shareOf(score));
  };
}

/**
 * A number from 0 to 1 that stays the same for a fan. The remainder of a join time (µs) after division by 32 is evenly
 * distributed, so this number is too.
 */
function shareOf(score: number): number {
  return (score % 32) / 32;
}

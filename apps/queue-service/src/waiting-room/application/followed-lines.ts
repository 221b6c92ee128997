import { FollowedLine } from './followed-line.ts';
import type { ConnectedFans } from './ports.ts';

interface UpdateTimes {
  /** A waiting fan gets a message at least this often. */
  readonly updateMs: number;
  /** How often due messages are looked for. */
  readonly roundMs: number;
}

/** The regular message comes up to a twentieth early, spread by the score, so that 5,000 fans do not get it in one instant. */
const EARLY_SHARE = 0.05;

/** The lines that fans connected to this pod wait in. A line is followed from its first connected fan to its last. */
export class FollowedLines {
  private readonly lines = new Map<string, FollowedLine>();

  constructor(
    private readonly entries: ConnectedFans,
    private readonly times: UpdateTimes,
  ) {}

  /** Begins to follow the line if this pod does not yet. */
  of(matchId: string): FollowedLine {
    let line = this.lines.get(matchId);
    if (!line) {
      line = new FollowedLine(matchId, this.entries, this.nextDueMs);
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

  /** A message that is not due in one regular update waits for the next, so it falls due that much earlier. */
  private readonly nextDueMs = (score: number, nowMs: number): number => {
    const { updateMs, roundMs } = this.times;
    return nowMs + (updateMs - roundMs) * (1 - EARLY_SHARE * shareOf(score));
  };
}

/** 0…1, the same for a fan each time: the last microseconds of the join time are evenly spread. */
function shareOf(score: number): number {
  return (score % 32) / 32;
}

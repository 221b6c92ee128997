import type { QueueState } from '../domain/fan-state.ts';
import { CoalescedRuns, type UpdateScope } from './coalesced-runs.ts';
import type { FollowedLine } from './followed-line.ts';
import type { FollowedLines } from './followed-lines.ts';
import { tellDevices, type LiveFans } from './live-fans.ts';
import { DELAYED, type MessageTexts } from './message-texts.ts';
import type { RefreshFans } from './refresh-fans.ts';

/** A fan within this position is told each step at once; the others with the next regular update. */
const NEAR_FRONT = 50;
/** Sending 200 messages keeps the event loop busy for about two milliseconds; then other work gets its turn. */
const CHUNK = 200;

/**
 * Brings all connected fans of one match up to date:
 *
 *     1. Read the moves of the line and send the position messages that are due.
 *     2. Refresh the fans who are not in line (any more).
 *     3. Keep the fans' sessions alive where that is due.
 *
 * One update per match runs at a time. An update requested meanwhile runs once more afterwards.
 */
export class MatchUpdates {
  private readonly runs = new CoalescedRuns();

  constructor(
    private readonly live: LiveFans,
    private readonly lines: FollowedLines,
    private readonly refreshFans: RefreshFans,
    private readonly texts: MessageTexts,
  ) {}

  /** The matches that somebody is connected for. */
  matches(): string[] {
    return this.live.matches();
  }

  /** `near`: a turn granted every tenth of a second must not become ten messages a second to a thousand fans. */
  update(matchId: string, nowMs: number, scope: UpdateScope): Promise<void> {
    return this.runs.request(matchId, scope, (asked) => this.updateOnce(matchId, nowMs, asked));
  }

  async refreshFan(matchId: string, userId: string, nowMs: number): Promise<void> {
    await this.refreshFans.refresh(this.live.ofUser(matchId, userId), nowMs);
  }

  /** Tells all fans of a match, once, that nothing can be read at the moment. All are told their state again afterwards. */
  tellDelayed(matchId: string): void {
    const line = this.lines.find(matchId);
    if (!line || line.isDelayed) return;
    line.isDelayed = true;
    for (const fan of this.live.ofMatch(matchId)) {
      tellDevices(fan, DELAYED, 'needed');
      fan.told = undefined;
    }
    line.makeAllDue();
  }

  /** A regular update has succeeded. The next failure is told again. */
  endDelay(matchId: string): void {
    const line = this.lines.find(matchId);
    if (line) line.isDelayed = false;
  }

  private async updateOnce(matchId: string, nowMs: number, scope: UpdateScope): Promise<void> {
    const fans = this.live.ofMatch(matchId);
    if (fans.length === 0) return;
    const line = this.lines.of(matchId);
    const read = await line.update(fans, nowMs);
    if (!read) return this.refreshFans.refresh(fans, nowMs);
    const { queue, unclear } = read;
    await this.sendDue(line, queue, nowMs, scope === 'near' ? NEAR_FRONT : Infinity);
    const others = fans.filter((fan) => fan.score === undefined && fan.devices.length > 0);
    await this.refreshFans.refreshOutOfLine(matchId, [...new Set([...unclear, ...others])], nowMs);
    await this.refreshFans.keepAlive(fans, nowMs);
  }

  /** In the order of the line, down to the position `last`. */
  private async sendDue(line: FollowedLine, queue: QueueState, nowMs: number, last: number): Promise<void> {
    const textAt = this.texts.ofPositions(queue);
    let after: number | undefined;
    for (;;) {
      const due = line.takeDue(nowMs, { last, after, most: CHUNK });
      // Read before the pause: a fan who disconnects during it loses the score.
      after = due.at(-1)?.fan.score;
      for (const { fan, position } of due) {
        fan.told = 'waiting';
        tellDevices(fan, textAt(position), 'update');
      }
      if (due.length < CHUNK) return;
      await new Promise(setImmediate);
    }
  }
}

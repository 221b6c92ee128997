import type { QueueState } from '../domain/fan-state.ts';
import { CoalescedRuns, type UpdateScope } from './coalesced-runs.ts';
import type { FanConnections } from './fan-connections.ts';
import type { FollowedLine } from './followed-line.ts';
import type { FollowedLines } from './followed-lines.ts';
import { sendToDevices, type LiveFan, type LiveFans } from './live-fans.ts';
import { DELAYED, type MessageTexts } from './message-texts.ts';
import { StateNeeded, type ConnectedFans } from './ports.ts';
import type { PresenceReports } from './presence-reports.ts';

/**
 * When a fan leaves the line, fans up to this position get their new position at once, fans behind it with the next regular
 * update.
 */
const MAX_NEAR_POSITION = 50;
/**
 * How many messages are sent without a pause, and how many fans are read in parallel. 200 messages block the event loop for about two
 * milliseconds; then other work can run.
 */
const CHUNK = 200;

/**
 * Brings all connected fans of one match up to date:
 *
 *     1. Read the moves of the line and send the position messages that are due.
 *     2. Read the tokens of fans who are not in line, and send those fans their new state.
 *     3. Renew the sessions that would otherwise expire soon.
 *
 * One update per match runs at a time. Requests during an update lead to one more update after it.
 *
 * Guarantee: a message to a fan is always built from data read from Redis. A hint (an event, a message of another pod, a timer)
 * only makes us read earlier. So a lost hint only delays the message until the next regular update.
 *
 * Callers pass monotonic milliseconds.
 */
export class FanUpdates {
  private readonly runs = new CoalescedRuns();

  constructor(
    private readonly liveFans: LiveFans,
    private readonly lines: FollowedLines,
    private readonly connectedFans: ConnectedFans,
    private readonly connections: FanConnections,
    private readonly presence: PresenceReports,
    private readonly texts: MessageTexts,
  ) {}

  /** Called on a hint about one fan: reads this fan again. */
  refreshFan(matchId: string, userId: string, nowMs: number): Promise<void> {
    return this.refresh(this.liveFans.ofUser(matchId, userId), nowMs);
  }

  /**
   * Called on a hint about a line. With scope `near` only the fans near the front get messages: ten granted turns a second must not
   * cause ten messages a second to every fan.
   */
  updateMatch(matchId: string, nowMs: number, scope: UpdateScope = 'all'): Promise<void> {
    return this.runs.request(matchId, (mergedScope) => this.updateOnce(matchId, nowMs, mergedScope), scope);
  }

  /** The regular update of all matches. While Redis is down all fans get the message `delayed`, and the call rejects. */
  async updateAll(nowMs: number): Promise<void> {
    try {
      for (const matchId of this.liveFans.matches()) await this.updateOrDelay(matchId, nowMs);
    } catch (error) {
      for (const matchId of this.liveFans.matches()) this.sendDelayed(matchId);
      throw error;
    }
  }

  /** Updates one match. If Redis has lost its state, its fans get `delayed`, and the update of the other matches goes on. */
  private async updateOrDelay(matchId: string, nowMs: number): Promise<void> {
    try {
      await this.updateMatch(matchId, nowMs);
      await this.presence.renewPresence(matchId, nowMs);
      // The outage is over. A later outage sends `delayed` again.
      const line = this.lines.find(matchId);
      if (line) line.isDelayed = false;
    } catch (error) {
      if (!(error instanceof StateNeeded)) throw error;
      this.sendDelayed(matchId);
    }
  }

  /**
   * Tells all fans of a match, once per outage, that the line cannot be read (`delayed`). After the outage all get their state
   * again.
   */
  private sendDelayed(matchId: string): void {
    const line = this.lines.find(matchId);
    if (!line || line.isDelayed) return;
    line.isDelayed = true;
    for (const fan of this.liveFans.ofMatch(matchId)) {
      sendToDevices(fan, DELAYED, 'required');
      fan.lastSent = undefined;
    }
    line.makeAllDue();
  }

  private async updateOnce(matchId: string, nowMs: number, scope: UpdateScope): Promise<void> {
    const fans = this.liveFans.ofMatch(matchId);
    if (fans.length === 0) return;
    const line = this.lines.of(matchId);
    const read = await line.update(fans, nowMs);
    if (!read) return this.refresh(fans, nowMs);
    const { queue, leavers } = read;
    await this.sendDue(line, queue, nowMs, scope === 'near' ? MAX_NEAR_POSITION : Infinity);
    const withoutPosition = fans.filter((fan) => fan.score === undefined && fan.devices.length > 0);
    await this.refreshOutOfLine(matchId, [...new Set([...leavers, ...withoutPosition])], nowMs);
    // A fan whose token is no longer valid is read again.
    await this.refresh(await this.presence.renewSessions(fans, nowMs), nowMs);
  }

  /**
   * Sends position messages, in line order, to those fans up to `maxPosition` whose position step (rounded position) changed or
   * whose regular message is due.
   */
  private async sendDue(line: FollowedLine, queue: QueueState, nowMs: number, maxPosition: number): Promise<void> {
    const textAt = this.texts.ofPositions(queue);
    let afterScore: number | undefined;
    for (;;) {
      const due = line.takeDue(nowMs, { maxPosition, afterScore, limit: CHUNK });
      // Take the score before the pause at the end of this loop: a fan who disconnects during the pause loses it.
      afterScore = due.at(-1)?.fan.score;
      for (const { fan, position } of due) {
        fan.lastSent = 'waiting';
        sendToDevices(fan, textAt(position), 'skippable');
      }
      if (due.length < CHUNK) return;
      await new Promise(setImmediate);
    }
  }
  /**
   * Reads the tokens of single fans and sends each fan the current state. Used for fans whose state cannot be computed from the
   * moves of the line (departures and returns): they were granted a turn, their turn ended, they left, or a published hint named
   * them.
   */
  private async refresh(fans: readonly LiveFan[], nowMs: number): Promise<void> {
    for (let from = 0; from < fans.length; from += CHUNK) {
      await Promise.all(
        fans.slice(from, from + CHUNK).map(async (fan) => {
          this.connections.update(fan, await this.connectedFans.readToken(fan.token), nowMs);
        }),
      );
    }
  }

  /**
   * Refreshes fans who are not in line. One read of 200 positions finds the fans whose turn continues. The others are read
   * one by one.
   */
  private async refreshOutOfLine(matchId: string, fans: readonly LiveFan[], nowMs: number): Promise<void> {
    const [inTurn, changed] = [fans.filter(isInTurn), fans.filter((fan) => !isInTurn(fan))];
    for (let from = 0; from < inTurn.length; from += CHUNK) {
      const chunk = inTurn.slice(from, from + CHUNK);
      const ids = chunk.map(({ userId }) => userId);
      const { positions } = await this.connectedFans.readPositions(matchId, ids);
      changed.push(...chunk.filter((_, index) => positions[index] !== 0));
    }
    await this.refresh(changed, nowMs);
  }
}

function isInTurn({ lastSent }: LiveFan): boolean {
  return lastSent === 'granted';
}

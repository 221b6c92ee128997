import type { FanConnections } from './fan-connections.ts';
import type { LiveFan } from './live-fans.ts';
import type { ConnectedFans } from './ports.ts';
import type { PresenceReports } from './presence-reports.ts';

/** How many fans are read in parallel. */
const CHUNK = 200;

/**
 * Reads the tokens of single fans and sends each fan the current state. Used for fans whose state cannot be computed from the
 * moves of the line (departures and returns): they were granted a turn, their turn ended, they left, or a published hint named them.
 */
export class RefreshFans {
  constructor(
    private readonly connectedFans: ConnectedFans,
    private readonly connections: FanConnections,
    private readonly presence: PresenceReports,
  ) {}

  async refresh(fans: readonly LiveFan[], nowMs: number): Promise<void> {
    for (let from = 0; from < fans.length; from += CHUNK) {
      await Promise.all(fans.slice(from, from + CHUNK).map((fan) => this.refreshOne(fan, nowMs)));
    }
  }

  /**
   * Refreshes fans who are not in line. One read of 200 positions finds the fans whose turn continues. The others are read
   * one by one.
   */
  async refreshOutOfLine(matchId: string, fans: readonly LiveFan[], nowMs: number): Promise<void> {
    const changed: LiveFan[] = [];
    for (let from = 0; from < fans.length; from += CHUNK) {
      const chunk = fans.slice(from, from + CHUNK);
      const inTurn = chunk.filter((fan) => fan.lastSent === 'granted');
      changed.push(...chunk.filter((fan) => fan.lastSent !== 'granted'));
      const ids = inTurn.map(({ userId }) => userId);
      const { positions } = await this.connectedFans.readPositions(matchId, ids);
      changed.push(...inTurn.filter((_, index) => positions[index] !== 0));
    }
    await this.refresh(changed, nowMs);
  }

  /** Renews the sessions of those fans whose last renewal is long ago. A fan whose token is no longer valid is read again. */
  async renewSessions(fans: readonly LiveFan[], nowMs: number): Promise<void> {
    await this.refresh(await this.presence.renewSessions(fans, nowMs), nowMs);
  }

  private async refreshOne(fan: LiveFan, nowMs: number): Promise<void> {
    this.connections.update(fan, await this.connectedFans.readToken(fan.token), nowMs);
  }
}

import type { FanConnections } from './fan-connections.ts';
import type { LiveFan } from './live-fans.ts';
import type { ConnectedFans } from './ports.ts';
import type { SignsOfLife } from './signs-of-life.ts';

/** Fans read at once. */
const CHUNK = 200;

/**
 * Reads fans one by one and tells each what it has become. This is for fans whose state the moves of a line do not show: their
 * turn has come or is over, they have left, or somebody named them in a hint.
 */
export class RefreshFans {
  constructor(
    private readonly entries: ConnectedFans,
    private readonly connections: FanConnections,
    private readonly signs: SignsOfLife,
  ) {}

  async refresh(fans: readonly LiveFan[], nowMs: number): Promise<void> {
    for (let from = 0; from < fans.length; from += CHUNK) {
      await Promise.all(fans.slice(from, from + CHUNK).map((fan) => this.refreshOne(fan, nowMs)));
    }
  }

  /** Fans who are not in line. Those whose turn simply goes on are found 200 at a time and not read one by one. */
  async refreshOutOfLine(matchId: string, fans: readonly LiveFan[], nowMs: number): Promise<void> {
    const changed: LiveFan[] = [];
    for (let from = 0; from < fans.length; from += CHUNK) {
      const chunk = fans.slice(from, from + CHUNK);
      const inTurn = chunk.filter((fan) => fan.told === 'granted');
      changed.push(...chunk.filter((fan) => fan.told !== 'granted'));
      const ids = inTurn.map(({ userId }) => userId);
      const { positions } = await this.entries.readPositions(matchId, ids);
      changed.push(...inTurn.filter((_, at) => positions[at] !== 0));
    }
    await this.refresh(changed, nowMs);
  }

  /** Keeps the fans' sessions and tokens alive where that is due. A fan whose token is no longer valid is refreshed. */
  async keepAlive(fans: readonly LiveFan[], nowMs: number): Promise<void> {
    await this.refresh(await this.signs.keepAlive(fans, nowMs), nowMs);
  }

  private async refreshOne(fan: LiveFan, nowMs: number): Promise<void> {
    this.connections.update(fan, await this.entries.readToken(fan.token), nowMs);
  }
}

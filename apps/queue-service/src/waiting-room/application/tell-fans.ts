import type { UpdateScope } from './coalesced-runs.ts';
import type { Device, NewStream } from './device.ts';
import type { FanConnections } from './fan-connections.ts';
import type { MatchUpdates } from './match-updates.ts';
import type { NewConnections } from './new-connections.ts';
import { StateNeeded } from './ports.ts';
import type { SignsOfLife } from './signs-of-life.ts';

/**
 * Keeps every connected fan up to date. Everything inbound asks here; the work is done in four parts:
 *
 *     NewConnections    whose connection is this? (tokens that are being looked up)
 *     FanConnections    tells a fan the state that was read, and closes connections
 *     MatchUpdates      brings all fans of one match up to date
 *     RefreshFans       reads single fans again
 *
 * Guarantee: any hint (an event, a message of another pod, the passing of time) leads to the same. We bring the line up to date,
 * or read the fan's position, and say what it has become. A lost hint is only a delay until the next regular update.
 *
 * Times are monotonic milliseconds, given by the caller.
 */
export class TellFans {
  constructor(
    private readonly newConnections: NewConnections,
    private readonly connections: FanConnections,
    private readonly updates: MatchUpdates,
    private readonly signs: SignsOfLife,
  ) {}

  /** A new connection gets the present state at once. Without Redis it stays open, is told so, and is looked up again later. */
  connect(device: Device, token: string, nowMs: number): Promise<void> {
    return this.newConnections.connect(device, token, nowMs);
  }

  /** The refusals are for the caller to answer. Rejects without Redis. */
  connectStream(token: string, stream: NewStream, nowMs: number): Promise<'opened' | 'no_place' | 'too_many'> {
    return this.newConnections.connectStream(token, stream, nowMs);
  }

  disconnect(device: Device): void {
    this.newConnections.forget(device);
    this.connections.remove(device);
  }

  /** Newer connections of the same fans, to any pod, count instead of these. */
  endReplaced(devices: readonly Device[]): void {
    this.connections.endReplaced(devices);
  }

  /** All connections are closed, each with its own time to come back. */
  drain(retryAfterMs: () => number): void {
    this.connections.drain(retryAfterMs);
    this.newConnections.drain(retryAfterMs);
  }

  /** Something happened to this fan. */
  refreshFan(matchId: string, userId: string, nowMs: number): Promise<void> {
    return this.updates.refreshFan(matchId, userId, nowMs);
  }

  /** Something happened in this line. `near`: tell only the fans near the front at once. */
  updateMatch(matchId: string, nowMs: number, scope: UpdateScope = 'all'): Promise<void> {
    return this.updates.update(matchId, nowMs, scope);
  }

  /** The regular update of all matches. Rejects, and tells all fans of the delay, when Redis is away. */
  async updateAll(nowMs: number): Promise<void> {
    try {
      for (const matchId of this.updates.matches()) await this.updateOrDelay(matchId, nowMs);
      await this.newConnections.retry(nowMs);
    } catch (error) {
      for (const matchId of this.updates.matches()) this.updates.tellDelayed(matchId);
      throw error;
    }
  }

  /** A match whose state is lost does not keep the others from their update. */
  private async updateOrDelay(matchId: string, nowMs: number): Promise<void> {
    try {
      await this.updates.update(matchId, nowMs, 'all');
      await this.signs.touch(matchId, nowMs);
      this.updates.endDelay(matchId);
    } catch (error) {
      if (!(error instanceof StateNeeded)) throw error;
      this.updates.tellDelayed(matchId);
    }
  }
}

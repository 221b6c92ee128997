import type { UpdateScope } from './coalesced-runs.ts';
import type { Device, StreamRequest } from './device.ts';
import type { FanConnections } from './fan-connections.ts';
import type { MatchUpdates } from './match-updates.ts';
import type { NewConnections } from './new-connections.ts';
import { StateNeeded } from './ports.ts';
import type { PresenceReports } from './presence-reports.ts';

/**
 * Keeps every connected fan up to date. Gateways, listeners and schedules call this class; four classes do the work:
 *
 *     NewConnections    reads the token of a new connection
 *     FanConnections    sends a fan the state that was read, and closes connections
 *     MatchUpdates      brings all fans of one match up to date
 *     RefreshFans       reads single fans again
 *
 * Guarantee: a message to a fan is always built from data read from Redis. A hint (an event, a message of another pod, a timer)
 * only makes us read earlier. So a lost hint only delays the message until the next regular update.
 *
 * Callers pass monotonic milliseconds.
 */
export class FanUpdates {
  constructor(
    private readonly newConnections: NewConnections,
    private readonly connections: FanConnections,
    private readonly updates: MatchUpdates,
    private readonly presence: PresenceReports,
  ) {}

  /**
   * Sends a new connection the current state. While Redis is down the connection stays open, gets `delayed`, and its token is
   * read later.
   */
  connect(device: Device, token: string, nowMs: number): Promise<void> {
    return this.newConnections.connect(device, token, nowMs);
  }

  /** Opens an event stream, or returns why it is refused, for the error answer. Rejects while Redis is down. */
  connectStream(token: string, stream: StreamRequest, nowMs: number): Promise<'opened' | 'no_entry' | 'too_many'> {
    return this.newConnections.connectStream(token, stream, nowMs);
  }

  disconnect(device: Device): void {
    this.newConnections.forget(device);
    this.connections.remove(device);
  }

  /** Closes connections that newer connections of the same fans, to any pod, have replaced. */
  closeReplaced(devices: readonly Device[]): void {
    this.connections.closeReplaced(devices);
  }

  /** Closes all connections of this pod. `retryAfterMs` gives each client its own delay before it reconnects. */
  drain(retryAfterMs: () => number): void {
    this.connections.drain(retryAfterMs);
    this.newConnections.drain(retryAfterMs);
  }

  /** Called on a hint about one fan: reads this fan again. */
  refreshFan(matchId: string, userId: string, nowMs: number): Promise<void> {
    return this.updates.refreshFan(matchId, userId, nowMs);
  }

  /** Called on a hint about a line. With `near` only the fans near the front get messages now. */
  updateMatch(matchId: string, nowMs: number, scope: UpdateScope = 'all'): Promise<void> {
    return this.updates.update(matchId, nowMs, scope);
  }

  /** The regular update of all matches. While Redis is down all fans get the message `delayed`, and the call rejects. */
  async updateAll(nowMs: number): Promise<void> {
    try {
      for (const matchId of this.updates.matches()) await this.updateOrDelay(matchId, nowMs);
      await this.newConnections.retry(nowMs);
    } catch (error) {
      for (const matchId of this.updates.matches()) this.updates.sendDelayed(matchId);
      throw error;
    }
  }

  /** Updates one match. If Redis has lost its state, its fans get `delayed`, and the update of the other matches goes on. */
  private async updateOrDelay(matchId: string, nowMs: number): Promise<void> {
    try {
      await this.updates.update(matchId, nowMs, 'all');
      await this.presence.renewPresence(matchId, nowMs);
      this.updates.endDelay(matchId);
    } catch (error) {
      if (!(error instanceof StateNeeded)) throw error;
      this.updates.sendDelayed(matchId);
    }
  }
}

import type { LiveFan, LiveFans } from './live-fans.ts';
import type { ConnectedFans, FanDevice } from './ports.ts';

const CLOSED_CHUNK = 200;
const PRESENCE_CHUNK = 500;
const SESSIONS_CHUNK = 200;

/** Reports to Redis which fans are connected to this pod and which connections have closed. Callers pass monotonic milliseconds. */
export class PresenceReports {
  private readonly renewedAtMs = new Map<string, number>();
  /**
   * By match: closed connections not yet reported. Their number is limited even while Redis is down: the fans of new connections
   * are then unknown, so only connections whose fan was known before the outage are added here.
   */
  private readonly closed = new Map<string, FanDevice[]>();

  constructor(
    private readonly connectedFans: ConnectedFans,
    private readonly liveFans: LiveFans,
    private readonly settings: { readonly presenceMs: number; readonly persistenceMs: number },
  ) {}

  /** Remembers a closed connection for the next `reportClosed`. */
  noteClosed({ matchId, userId }: { matchId: string; userId: string }, websocketId: string): void {
    const closed = this.closed.get(matchId);
    if (closed) closed.push({ userId, websocketId });
    else this.closed.set(matchId, [{ userId, websocketId }]);
  }

  /**
   * Reports closed connections in batches, because thousands may close at once. A failed batch stays for the next call. Called
   * ten times a second.
   */
  async reportClosed(): Promise<void> {
    for (const [matchId, devices] of [...this.closed]) {
      this.closed.delete(matchId);
      let reported = 0;
      try {
        for (; reported < devices.length; reported += CLOSED_CHUNK) {
          await this.connectedFans.removeConnections(matchId, devices.slice(reported, reported + CLOSED_CHUNK));
        }
      } catch (error) {
        for (const device of devices.slice(reported)) this.noteClosed({ matchId, ...device }, device.websocketId);
        throw error;
      }
    }
  }

  /** Called when another pod has reported these fans as away. Reports those who have a connection to this pod as present. */
  async confirmPresence(matchId: string, userIds: readonly string[]): Promise<void> {
    const connected = userIds.flatMap((userId) => this.liveFans.ofUser(matchId, userId));
    await Promise.all(connected.map((fan) => this.keepEntry(fan)));
  }

  /**
   * Renews the session and the token of each fan three times within their lifetime. Returns the fans whose token is no longer
   * valid.
   */
  async renewSessions(fans: readonly LiveFan[], nowMs: number): Promise<LiveFan[]> {
    const intervalMs = this.settings.persistenceMs / 3;
    const due = fans.filter((fan) => fan.devices.length > 0 && nowMs - fan.sessionRenewedAtMs >= intervalMs);
    const invalid: LiveFan[] = [];
    for (let from = 0; from < due.length; from += SESSIONS_CHUNK) {
      await Promise.all(
        due.slice(from, from + SESSIONS_CHUNK).map(async (fan) => {
          fan.sessionRenewedAtMs = nowMs;
          if (!(await this.keepEntry(fan))) invalid.push(fan);
        }),
      );
    }
    return invalid;
  }

  /** Renews the presence of all connected fans of a match, three times within QUEUE_PRESENCE_SECONDS. */
  async renewPresence(matchId: string, nowMs: number): Promise<void> {
    if (nowMs - (this.renewedAtMs.get(matchId) ?? -Infinity) < this.settings.presenceMs / 3) return;
    this.renewedAtMs.set(matchId, nowMs);
    const users = this.liveFans.ofMatch(matchId).map(({ userId }) => userId);
    for (let from = 0; from < users.length; from += PRESENCE_CHUNK) {
      await this.connectedFans.renewPresence(matchId, users.slice(from, from + PRESENCE_CHUNK));
    }
    for (const known of this.renewedAtMs.keys()) if (!this.liveFans.hasMatch(known)) this.renewedAtMs.delete(known);
  }

  private keepEntry(fan: LiveFan): Promise<boolean> {
    const ids = fan.devices.map(({ id }) => id);
    return this.connectedFans.keepEntry(fan, ids);
  }
}

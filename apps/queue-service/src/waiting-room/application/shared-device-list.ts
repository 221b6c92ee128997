import type { Device } from './device.ts';
import type { FanConnections } from './fan-connections.ts';
import type { LiveFans } from './live-fans.ts';
import type { ConnectedFans, FanDevice } from './ports.ts';
import type { PresenceReports } from './presence-reports.ts';

/**
 * This pod's work on the device lists in Redis. A fan may have five connections over all pods, and Redis lists them. The pod
 *
 *     sends a heartbeat each second, so that its connections count,
 *     closes its connections that newer connections to other pods have replaced,
 *     reports connections that are listed as its own but do not exist.
 */
export class SharedDeviceList {
  /** Ids of connections whose token is being read: Redis may list them already, but LiveFans does not have them yet. */
  private readonly registering = new Set<string>();
  /** By match: the replaced connections that the last heartbeat returned. The next heartbeat reports them as closed. */
  private readonly replaced = new Map<string, readonly FanDevice[]>();

  constructor(
    private readonly connectedFans: ConnectedFans,
    private readonly liveFans: LiveFans,
    private readonly presence: PresenceReports,
    private readonly fanConnections: Pick<FanConnections, 'closeReplaced'>,
    /** Its id is the prefix of the ids of all connections to this pod. */
    private readonly pod: { readonly id: string },
  ) {}

  /** Reads the token of a new connection. During the read the connection is not reported as missing or closed. */
  async duringRegistration<T>(id: string, read: () => Promise<T>): Promise<T> {
    this.registering.add(id);
    try {
      return await read();
    } finally {
      this.registering.delete(id);
    }
  }

  /** Closes those of the given devices that are connected to this pod: newer connections of their fans have replaced them. */
  closeReplaced(matchId: string, devices: readonly FanDevice[]): void {
    this.fanConnections.closeReplaced(this.findLocal(matchId, devices));
  }

  /**
   * Called when a connection was refused because these devices fill the fan's list. Reports those devices of this pod that do not
   * exist: they closed while Redis was down.
   */
  reportMissing(matchId: string, devices: readonly FanDevice[]): void {
    for (const device of devices) {
      const { userId, websocketId } = device;
      const isOwn = websocketId.startsWith(this.pod.id) && !this.registering.has(websocketId);
      if (isOwn && this.findLocal(matchId, [device]).length === 0) this.presence.noteClosed({ matchId, userId }, websocketId);
    }
  }

  /** Sends a heartbeat for each match with connected fans. Called every second, one call at a time. */
  async sendHeartbeats(): Promise<void> {
    for (const matchId of this.replaced.keys()) if (!this.liveFans.hasMatch(matchId)) this.replaced.delete(matchId);
    // The heartbeat fails for a match whose Redis node is down; the next heartbeat tries again.
    await Promise.all(this.liveFans.matches().map((matchId) => this.sendHeartbeat(matchId).catch(() => undefined)));
  }

  /** Removes this pod's connections from the limits of their fans. Called before the pod closes all its connections. */
  async removePod(): Promise<void> {
    const matches = new Set([...this.liveFans.matches(), ...this.replaced.keys()]);
    await Promise.all([...matches].map((matchId) => this.connectedFans.removePod(matchId, this.pod.id)));
  }

  private async sendHeartbeat(matchId: string): Promise<void> {
    const toClose = this.replaced.get(matchId) ?? [];
    // Close connections that were still being registered when the last heartbeat returned them.
    this.closeReplaced(matchId, toClose);
    const closed = toClose.filter(({ websocketId }) => !this.registering.has(websocketId));
    const replaced = await this.connectedFans.sendHeartbeat(matchId, this.pod.id, closed);
    this.replaced.set(matchId, replaced);
    this.closeReplaced(matchId, replaced);
  }

  private findLocal(matchId: string, devices: readonly FanDevice[]): Device[] {
    return devices.flatMap(({ userId, websocketId }) =>
      this.liveFans.ofUser(matchId, userId).flatMap((fan) => fan.devices.filter(({ id }) => id === websocketId)),
    );
  }
}

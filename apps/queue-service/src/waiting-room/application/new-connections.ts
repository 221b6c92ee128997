import type { Device, StreamRequest } from './device.ts';
import type { FanConnections } from './fan-connections.ts';
import { DELAYED } from './message-texts.ts';
import type { ConnectedFans } from './ports.ts';
import type { SharedDeviceList } from './shared-device-list.ts';
import type { PresenceReports } from './presence-reports.ts';

/** How many tokens are read in parallel. Thousands of devices may have connected while Redis was down. */
const CHUNK = 200;

/**
 * New and closed connections of this pod. Until the token of a connection has been read, its fan is not known.
 *
 *     connect ──▶ reading token ── read ────▶ a connection of its fan, or closed (FanConnections)
 *                   │    ▲
 *     Redis is down ▼    │ retry, with each regular update
 *                 unresolved: stays open, gets `delayed` once
 */
export class NewConnections {
  private readonly unresolved = new Map<Device, string>();

  constructor(
    private readonly connectedFans: ConnectedFans,
    private readonly deviceList: SharedDeviceList,
    private readonly presence: PresenceReports,
    private readonly fanConnections: FanConnections,
  ) {}

  /** Reads the token of a new connection. Never rejects: while Redis is down the connection stays open and unresolved. */
  async connect(device: Device, token: string, nowMs: number): Promise<void> {
    const read = () => this.connectedFans.readToken(token, device.id);
    const found = await this.deviceList.duringRegistration(device.id, read).catch(() => 'unreachable' as const);
    // The device closed while the token was read. The read has registered it as connected, so report it as closed.
    if (!device.isOpen && found && found !== 'unreachable') this.presence.noteClosed(found, device.id);
    if (!device.isOpen) return;
    if (found !== 'unreachable') {
      this.unresolved.delete(device);
      return this.fanConnections.add(device, token, found, nowMs);
    }
    if (!this.unresolved.has(device)) device.send(DELAYED, 'required');
    this.unresolved.set(device, token);
  }

  /**
   * Opens an event stream. A stream has no close codes, so a refusal is returned before `open` is called. Rejects while Redis is
   * down.
   */
  async connectStream(token: string, { id, open }: StreamRequest, nowMs: number): Promise<'opened' | 'no_entry' | 'too_many'> {
    const found = await this.deviceList.duringRegistration(id, () => this.connectedFans.readTokenForStream(token, id));
    if (found === 'full') return 'too_many';
    if (found?.entry.state.kind !== 'waiting' && found?.entry.state.kind !== 'granted') return 'no_entry';
    let device: Device | undefined;
    try {
      device = open();
    } finally {
      if (!device) this.presence.noteClosed(found, id);
    }
    if (device) this.fanConnections.add(device, token, found, nowMs);
    return 'opened';
  }

  /** Reads the tokens of all unresolved connections again. */
  async retry(nowMs: number): Promise<void> {
    const unresolved = [...this.unresolved];
    for (let from = 0; from < unresolved.length; from += CHUNK) {
      const chunk = unresolved.slice(from, from + CHUNK);
      await Promise.all(chunk.map(([device, token]) => this.connect(device, token, nowMs)));
    }
  }

  /** Called when a connection has closed. */
  disconnect(device: Device): void {
    this.unresolved.delete(device);
    this.fanConnections.remove(device);
  }

  /** Closes all connections of this pod. `retryAfterMs` gives each client its own delay before it reconnects. */
  drain(retryAfterMs: () => number): void {
    this.fanConnections.drain(retryAfterMs);
    for (const device of this.unresolved.keys()) device.close({ kind: 'draining', retryAfterMs: retryAfterMs() });
    this.unresolved.clear();
  }
}

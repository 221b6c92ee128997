import type { Device, NewStream } from './device.ts';
import type { FanConnections } from './fan-connections.ts';
import { DELAYED } from './message-texts.ts';
import type { ConnectedFans } from './ports.ts';
import type { SharedCount } from './shared-count.ts';
import type { SignsOfLife } from './signs-of-life.ts';

/** Lookups at once. Thousands of devices may have connected while Redis was away. */
const CHUNK = 200;

/**
 * Connections whose token has not been looked up yet: whose they are is not known.
 *
 *     connect ──▶ looking up ──── found ────▶ a connection of its fan, or closed (FanConnections)
 *                   │    ▲
 *     Redis is away ▼    │ retry, with each regular update
 *                 unresolved: open, and told `delayed` once
 */
export class NewConnections {
  private readonly unresolved = new Map<Device, string>();

  constructor(
    private readonly entries: ConnectedFans,
    private readonly count: SharedCount,
    private readonly signs: SignsOfLife,
    private readonly connections: FanConnections,
  ) {}

  /** Never rejects: without Redis the connection stays open and unresolved. */
  async connect(device: Device, token: string, nowMs: number): Promise<void> {
    const read = () => this.entries.readToken(token, device.id);
    const found = await this.count.arrive(device.id, read).catch(() => 'unreachable' as const);
    // Closed during the lookup, which has just counted it as connected.
    if (!device.isOpen && found && found !== 'unreachable') this.signs.noteParted(found, device.id);
    if (!device.isOpen) return;
    if (found !== 'unreachable') {
      this.unresolved.delete(device);
      return this.connections.add(device, token, found, nowMs);
    }
    if (!this.unresolved.has(device)) device.tell(DELAYED, 'needed');
    this.unresolved.set(device, token);
  }

  /** A stream has no close codes: a refusal is answered before `open` turns the request into a device. Rejects without Redis. */
  async connectStream(token: string, { id, open }: NewStream, nowMs: number): Promise<'opened' | 'no_place' | 'too_many'> {
    const found = await this.count.arrive(id, () => this.entries.readTokenOfStream(token, id));
    if (found === 'full') return 'too_many';
    if (found?.entry.state.kind !== 'waiting' && found?.entry.state.kind !== 'granted') return 'no_place';
    let device: Device | undefined;
    try {
      device = open();
    } finally {
      if (!device) this.signs.noteParted(found, id);
    }
    if (device) this.connections.add(device, token, found, nowMs);
    return 'opened';
  }

  /** Looks up the tokens again that could not be looked up before. */
  async retry(nowMs: number): Promise<void> {
    const waiting = [...this.unresolved];
    for (let from = 0; from < waiting.length; from += CHUNK) {
      const chunk = waiting.slice(from, from + CHUNK);
      await Promise.all(chunk.map(([device, token]) => this.connect(device, token, nowMs)));
    }
  }

  /** This connection has closed. */
  forget(device: Device): void {
    this.unresolved.delete(device);
  }

  drain(retryAfterMs: () => number): void {
    for (const device of this.unresolved.keys()) device.end({ why: 'draining', retryAfterMs: retryAfterMs() });
    this.unresolved.clear();
  }
}

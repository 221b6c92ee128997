import type { Device } from './device.ts';
import type { LiveFans } from './live-fans.ts';
import type { ConnectedFans, FanDevice } from './ports.ts';
import type { SignsOfLife } from './signs-of-life.ts';

/**
 * A fan's five connections are counted over all pods, in Redis; this is what one pod does for it. It beats, so that its
 * connections count; closes those that newer ones elsewhere have replaced; and takes off what it is said to have and has not.
 */
export class SharedCount {
  /** Connections that Redis may know already and this pod does not yet. */
  private readonly arriving = new Set<string>();
  /** By match: what the last beat told to close. The next one says that it is done. */
  private readonly replaced = new Map<string, readonly FanDevice[]>();
  private isBeating = false;

  constructor(
    private readonly entries: ConnectedFans,
    private readonly live: LiveFans,
    private readonly signs: SignsOfLife,
    /** What the ids of this pod's devices begin with. */
    private readonly pod: string,
  ) {}

  async arrive<T>(id: string, read: () => Promise<T>): Promise<T> {
    this.arriving.add(id);
    try {
      return await read();
    } finally {
      this.arriving.delete(id);
    }
  }

  /** Those of them that are connected here. */
  here(matchId: string, devices: readonly FanDevice[]): Device[] {
    return devices.flatMap(({ userId, websocketId }) =>
      this.live.ofUser(matchId, userId).flatMap((fan) => fan.devices.filter(({ id }) => id === websocketId)),
    );
  }

  /** Somebody was refused because these count: those said to be here that are not, as Redis was away when they closed, go. */
  disown(matchId: string, devices: readonly FanDevice[]): void {
    for (const device of devices) {
      const { userId, websocketId } = device;
      const isOurs = websocketId.startsWith(this.pod) && !this.arriving.has(websocketId);
      if (isOurs && this.here(matchId, [device]).length === 0) this.signs.noteParted({ matchId, userId }, websocketId);
    }
  }

  /** Called every second. */
  async beat(close: (devices: Device[]) => void): Promise<void> {
    if (this.isBeating) return;
    this.isBeating = true;
    for (const known of this.replaced.keys()) if (!this.live.hasMatch(known)) this.replaced.delete(known);
    // Of a match whose part of Redis is away the next beat hears.
    await Promise.all(this.live.matches().map((matchId) => this.beatFor(matchId, close).catch(() => undefined)));
    this.isBeating = false;
  }

  /** Before all connections are closed. */
  async sayGoodbye(): Promise<void> {
    const matches = new Set([...this.live.matches(), ...this.replaced.keys()]);
    await Promise.all([...matches].map((matchId) => this.entries.sayGoodbye(matchId, this.pod)));
  }

  private async beatFor(matchId: string, close: (devices: Device[]) => void): Promise<void> {
    const told = this.replaced.get(matchId) ?? [];
    // What was only arriving when it was told of is here by now.
    close(this.here(matchId, told));
    const closed = told.filter(({ websocketId }) => !this.arriving.has(websocketId));
    const replaced = await this.entries.beat(matchId, this.pod, closed);
    this.replaced.set(matchId, replaced);
    close(this.here(matchId, replaced));
  }
}

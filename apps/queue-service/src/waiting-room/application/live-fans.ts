import type { Device } from './device.ts';

/** A fan with at least one connection to this pod, under one queue token. */
export interface LiveFan {
  readonly matchId: string;
  readonly userId: string;
  readonly token: string;
  /** Oldest first. */
  readonly devices: Device[];
  /** What the devices last heard of; undefined before the first message and after a time without Redis. */
  told?: 'waiting' | 'granted';
  /** While waiting: the place in the order of the line. */
  score?: number;
  /** When token and session were last kept alive. */
  keptAtMs: number;
}

export const DEVICES_PER_FAN = 5;

/** Who is connected to this pod. Bounded by the pod's limit of connections. */
export class LiveFans {
  private readonly byToken = new Map<string, LiveFan>();
  private readonly byMatch = new Map<string, Set<LiveFan>>();
  private readonly byUser = new Map<string, Set<LiveFan>>();
  private readonly byDevice = new Map<Device, LiveFan>();

  find(token: string): LiveFan | undefined {
    return this.byToken.get(token);
  }

  ofMatch(matchId: string): LiveFan[] {
    return [...(this.byMatch.get(matchId) ?? [])];
  }

  /** Usually one; two when a fan left and joined again while a device still holds the old token. */
  ofUser(matchId: string, userId: string): LiveFan[] {
    return [...(this.byUser.get(`${matchId} ${userId}`) ?? [])];
  }

  hasMatch(matchId: string): boolean {
    return this.byMatch.has(matchId);
  }

  matches(): string[] {
    return [...this.byMatch.keys()];
  }

  all(): LiveFan[] {
    return [...this.byToken.values()];
  }

  add(owner: { matchId: string; userId: string; token: string }, device: Device, nowMs: number): LiveFan {
    const fan = this.byToken.get(owner.token) ?? this.admit({ ...owner, devices: [], keptAtMs: nowMs });
    fan.devices.push(device);
    this.byDevice.set(device, fan);
    return fan;
  }

  /** The fan whose last device this was. */
  remove(device: Device): LiveFan | undefined {
    const fan = this.byDevice.get(device);
    if (!fan) return undefined;
    this.byDevice.delete(device);
    fan.devices.splice(fan.devices.indexOf(device), 1);
    if (fan.devices.length > 0) return undefined;
    this.forget(fan);
    return fan;
  }

  private admit(fan: LiveFan): LiveFan {
    this.byToken.set(fan.token, fan);
    addTo(this.byMatch, fan.matchId, fan);
    addTo(this.byUser, `${fan.matchId} ${fan.userId}`, fan);
    return fan;
  }

  private forget(fan: LiveFan): void {
    this.byToken.delete(fan.token);
    removeFrom(this.byMatch, fan.matchId, fan);
    removeFrom(this.byUser, `${fan.matchId} ${fan.userId}`, fan);
  }
}

function addTo(index: Map<string, Set<LiveFan>>, key: string, fan: LiveFan): void {
  const fans = index.get(key);
  if (fans) fans.add(fan);
  else index.set(key, new Set([fan]));
}

function removeFrom(index: Map<string, Set<LiveFan>>, key: string, fan: LiveFan): void {
  const fans = index.get(key);
  fans?.delete(fan);
  if (fans?.size === 0) index.delete(key);
}

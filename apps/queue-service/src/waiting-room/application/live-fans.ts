import type { Device } from './device.ts';

/** A fan with at least one connection to this pod, under one queue token. */
export interface LiveFan {
  readonly matchId: string;
  readonly userId: string;
  readonly token: string;
  /** Oldest first. */
  devices: readonly Device[];
  /** What the devices last heard of; undefined before the first message and after a time without Redis. */
  told: 'waiting' | 'granted' | undefined;
  /** While waiting: the place in the order of the line. */
  score: number | undefined;
  /** When token and session were last kept alive. */
  keptAtMs: number;
}

export const DEVICES_PER_FAN = 5;

export function tellDevices(fan: LiveFan, text: string, weight: 'update' | 'needed'): void {
  for (const device of fan.devices) device.tell(text, weight);
}

interface LiveMatch {
  readonly id: string;
  readonly fans: Set<LiveFan>;
  /** Usually one; two when a fan left and joined again while a device still holds the old token. */
  readonly byUser: Map<string, LiveFan | LiveFan[]>;
}

/**
 * Who is connected to this pod. Bounded by the pod's limit of connections, and sparing: a pod holds 19,000 of these, so no fan
 * has a collection of its own where a single object does.
 */
export class LiveFans {
  private readonly byToken = new Map<string, LiveFan>();
  private readonly byMatch = new Map<string, LiveMatch>();
  private readonly byDevice = new Map<Device, LiveFan>();

  find(token: string): LiveFan | undefined {
    return this.byToken.get(token);
  }

  ofMatch(matchId: string): LiveFan[] {
    return [...(this.byMatch.get(matchId)?.fans ?? [])];
  }

  ofUser(matchId: string, userId: string): readonly LiveFan[] {
    return asList(this.byMatch.get(matchId)?.byUser.get(userId));
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
    const known = this.byToken.get(owner.token);
    const fan = known ?? this.admit(owner, device, nowMs);
    if (known) known.devices = [...known.devices, device];
    this.byDevice.set(device, fan);
    return fan;
  }

  /** Whose it was; without devices the fan is not here any more. */
  remove(device: Device): LiveFan | undefined {
    const fan = this.byDevice.get(device);
    if (!fan) return undefined;
    this.byDevice.delete(device);
    fan.devices = fan.devices.filter((other) => other !== device);
    if (fan.devices.length === 0) this.forget(fan);
    return fan;
  }

  private admit(owner: { matchId: string; userId: string; token: string }, device: Device, nowMs: number): LiveFan {
    const match = this.byMatch.get(owner.matchId) ?? { id: owner.matchId, fans: new Set(), byUser: new Map() };
    this.byMatch.set(match.id, match);
    const { userId, token } = owner;
    // The match's own text, not one more copy of it.
    const fan: LiveFan = {
      matchId: match.id,
      userId,
      token,
      devices: [device],
      told: undefined,
      score: undefined,
      keptAtMs: nowMs,
    };
    this.byToken.set(token, fan);
    match.fans.add(fan);
    const others = match.byUser.get(userId);
    match.byUser.set(userId, others ? [...asList(others), fan] : fan);
    return fan;
  }

  private forget(fan: LiveFan): void {
    this.byToken.delete(fan.token);
    const match = this.byMatch.get(fan.matchId);
    if (!match) return;
    match.fans.delete(fan);
    const others = asList(match.byUser.get(fan.userId)).filter((other) => other !== fan);
    if (others.length === 0) match.byUser.delete(fan.userId);
    else match.byUser.set(fan.userId, others.length === 1 ? others[0]! : others);
    if (match.fans.size === 0) this.byMatch.delete(fan.matchId);
  }
}

function asList(fans: LiveFan | LiveFan[] | undefined): readonly LiveFan[] {
  if (fans === undefined) return [];
  return Array.isArray(fans) ? fans : [fans];
}

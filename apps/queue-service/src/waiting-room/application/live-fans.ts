import type { Device } from './device.ts';

/** A fan with at least one connection to this pod. All connections of a LiveFan use the same queue token. */
export interface LiveFan {
  readonly matchId: string;
  readonly userId: string;
  readonly token: string;
  /** The fan's connections to this pod, oldest first. */
  devices: readonly Device[];
  /** The state that was last sent to the devices. Undefined before the first message and after `delayed`. */
  lastSent: 'waiting' | 'granted' | undefined;
  /** The join time in µs, which orders the line. Undefined for a fan who does not wait. */
  score: number | undefined;
  /** When the fan's session (the record of queue token and connections in Redis) was last given a new expiry. */
  sessionRenewedAtMs: number;
}

/** How many connections a fan may have over all pods. A further one replaces the oldest. */
export const MAX_DEVICES_PER_FAN = 5;

/** Sends the same text to all connections that the fan has to this pod. */
export function sendToDevices(fan: LiveFan, text: string, kind: 'skippable' | 'required'): void {
  for (const device of fan.devices) device.send(text, kind);
}

interface LiveMatch {
  readonly id: string;
  readonly fans: Set<LiveFan>;
  /** Usually one object. A list after a fan left and joined again while a device still uses the old token. */
  readonly byUser: Map<string, LiveFan | LiveFan[]>;
}

/**
 * The fans connected to this pod. The pod's connection limit bounds their number. A pod may hold 19,000 of them, so the code saves
 * memory: `byUser` holds a single object where a fan has only one.
 */
export class LiveFans {
  private readonly byToken = new Map<string, LiveFan>();
  private readonly byMatch = new Map<string, LiveMatch>();
  private readonly byDevice = new Map<Device, LiveFan>();

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
    const fan = known ?? this.create(owner, device, nowMs);
    if (known) known.devices = [...known.devices, device];
    this.byDevice.set(device, fan);
    return fan;
  }

  /** Removes a device and returns its fan. Removes the fan when this was the fan's last device. */
  remove(device: Device): LiveFan | undefined {
    const fan = this.byDevice.get(device);
    if (!fan) return undefined;
    this.byDevice.delete(device);
    fan.devices = fan.devices.filter((other) => other !== device);
    if (fan.devices.length === 0) this.forget(fan);
    return fan;
  }

  private create(owner: { matchId: string; userId: string; token: string }, device: Device, nowMs: number): LiveFan {
    const match = this.byMatch.get(owner.matchId) ?? { id: owner.matchId, fans: new Set(), byUser: new Map() };
    this.byMatch.set(match.id, match);
    const { userId, token } = owner;
    // `match.id` instead of `owner.matchId`, so that all fans of a match share one string in memory.
    const fan: LiveFan = {
      matchId: match.id,
      userId,
      token,
      devices: [device],
      lastSent: undefined,
      score: undefined,
      sessionRenewedAtMs: nowMs,
    };
    this.byToken.set(token, fan);
    match.fans.add(fan);
    const sameUser = match.byUser.get(userId);
    match.byUser.set(userId, sameUser ? [...asList(sameUser), fan] : fan);
    return fan;
  }

  private forget(fan: LiveFan): void {
    this.byToken.delete(fan.token);
    const match = this.byMatch.get(fan.matchId);
    if (!match) return;
    match.fans.delete(fan);
    const remaining = asList(match.byUser.get(fan.userId)).filter((other) => other !== fan);
    if (remaining.length === 0) match.byUser.delete(fan.userId);
    else match.byUser.set(fan.userId, remaining.length === 1 ? remaining[0]! : remaining);
    if (match.fans.size === 0) this.byMatch.delete(fan.matchId);
  }
}

function asList(fans: LiveFan | LiveFan[] | undefined): readonly LiveFan[] {
  if (fans === undefined) return [];
  return Array.isArray(fans) ? fans : [fans];
}

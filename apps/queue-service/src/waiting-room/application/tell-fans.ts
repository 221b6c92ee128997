import { messageFor } from '#domain/waiting-room/fan-messages';
import type { QueueState } from '#domain/waiting-room/fan-state';
import { isSignificantMove } from '#domain/waiting-room/position-steps';
import type { Device, Ending } from './device.ts';
import { DEVICES_PER_FAN, type LiveFan, type LiveFans } from './live-fans.ts';
import type { ConnectedPlaces, Links, Place } from './ports.ts';

interface TellFansSettings {
  readonly updateMs: number;
  /** How often `runRound` is called. */
  readonly roundMs: number;
  readonly persistenceMs: number;
  readonly purchaseWindowMs: number;
}

const DELAYED = JSON.stringify({ type: 'delayed' });
/** Redis answers 200 ranks in about a third of a millisecond, and sending them keeps the event loop busy for about three. */
const CHUNK = 200;
/** The regular message comes up to a twentieth early, by chance of the token, so that 5,000 fans do not get it in one instant. */
const EARLY_SHARE = 0.05;

/**
 * Keeps every connected fan told of the truth. Whatever hints arrive (an event, a message of another pod, the passing of
 * time), the answer is the same: read the state and say what it has become. A lost hint is thus only a delay, until the
 * next round. Time is monotonic milliseconds, given by the caller.
 */
export class TellFans {
  /** Connections whose token could not be looked up because Redis was away. */
  private readonly unresolved = new Map<Device, string>();
  private delayed = false;

  constructor(
    private readonly places: ConnectedPlaces,
    private readonly live: LiveFans,
    private readonly links: Links,
    private readonly settings: TellFansSettings,
  ) {}

  /** A new connection gets the present state at once. Without Redis it stays, is told so, and is looked at again each round. */
  async connect(device: Device, token: string, nowMs: number): Promise<void> {
    const found = await this.places.readToken(token).catch(() => 'unreachable' as const);
    if (!device.isOpen) return;
    if (found === 'unreachable') {
      if (!this.unresolved.has(device)) device.tell(DELAYED, 'needed');
      this.unresolved.set(device, token);
      return;
    }
    this.unresolved.delete(device);
    if (!found || found.place.state.kind === 'nowhere') return device.end({ why: 'unknown_token' });
    if (found.place.state.kind === 'over') return this.sayLastWord([device], found.place, found.matchId);
    const fan = this.live.add({ matchId: found.matchId, userId: found.userId, token }, device, nowMs);
    while (fan.devices.length > DEVICES_PER_FAN) this.endDevice(fan.devices[0]!, { why: 'replaced' });
    const message = this.messageOf(found.place, fan.matchId);
    if (message) device.tell(message, 'needed');
    if (fan.devices.length === 1) this.remember(fan, found.place, nowMs);
    await this.places.keep(fan, device.id).catch(() => undefined);
  }

  /** A stream that cannot be served is told so before it starts, as it has no close codes. Rejects without Redis. */
  async roomForStream(token: string): Promise<'yes' | 'no_place' | 'too_many'> {
    const found = await this.places.readToken(token);
    if (found?.place.state.kind !== 'waiting' && found?.place.state.kind !== 'granted') return 'no_place';
    return (this.live.find(token)?.devices.length ?? 0) < DEVICES_PER_FAN ? 'yes' : 'too_many';
  }

  disconnect(device: Device): void {
    this.unresolved.delete(device);
    this.live.remove(device);
  }

  /** Something happened to this fan. */
  async refreshFan(matchId: string, userId: string, nowMs: number): Promise<void> {
    await Promise.all(this.live.ofUser(matchId, userId).map((fan) => this.refresh(fan, nowMs)));
  }

  /** One look at everybody connected; what is due or has changed is told. Rejects, and says so to all, when Redis is away. */
  async runRound(nowMs: number): Promise<void> {
    try {
      for (const matchId of this.live.matches()) await this.runMatch(matchId, nowMs);
      for (const [device, token] of [...this.unresolved]) await this.connect(device, token, nowMs);
      this.delayed = false;
    } catch (error) {
      this.sayDelayed();
      throw error;
    }
  }

  /** The fans of one match: positions in chunks, and whoever is neither in line nor in a turn is read whole. */
  async runMatch(matchId: string, nowMs: number): Promise<void> {
    const fans = this.live.ofMatch(matchId);
    for (let from = 0; from < fans.length; from += CHUNK) {
      const chunk = fans.slice(from, from + CHUNK);
      const { positions, queue } = await this.places.readPositions(
        matchId,
        chunk.map((fan) => fan.userId),
      );
      const unclear = chunk.filter((fan, at) => !this.tellPosition(fan, positions[at] ?? -1, queue, nowMs));
      await Promise.all(unclear.map((fan) => this.refresh(fan, nowMs)));
      await this.keepAlive(chunk, nowMs);
    }
  }

  /** Everybody is sent away, each with a time of their own to come back. */
  drain(retryAfterMs: () => number): void {
    for (const device of [...this.live.all().flatMap((fan) => fan.devices), ...this.unresolved.keys()]) {
      this.endDevice(device, { why: 'draining', retryAfterMs: retryAfterMs() });
    }
  }

  private async refresh(fan: LiveFan, nowMs: number): Promise<void> {
    const found = await this.places.readToken(fan.token);
    if (!found || found.place.state.kind === 'nowhere') {
      for (const device of [...fan.devices]) this.endDevice(device, { why: 'unknown_token' });
      return;
    }
    const { place } = found;
    if (place.state.kind === 'over') return this.sayLastWord([...fan.devices], place, fan.matchId);
    if (place.state.kind === 'granted' && fan.told?.kind === 'granted') return;
    this.say(fan, this.messageOf(place, fan.matchId), place.state.kind === 'granted' ? 'needed' : 'update');
    this.remember(fan, place, nowMs);
  }

  /** False when a position alone does not tell what became of the fan. */
  private tellPosition(fan: LiveFan, position: number, queue: QueueState | undefined, nowMs: number): boolean {
    if (!queue) return false;
    if (position === 0) return fan.told?.kind === 'granted';
    if (position < 0 || fan.told?.kind === 'granted') return false;
    const { told } = fan;
    // Not due now means waiting for the next round.
    const dueMs = (this.settings.updateMs - this.settings.roundMs) * (1 - EARLY_SHARE * shareOf(fan.token));
    const isDue =
      !told || told.revision !== queue.revision || nowMs - told.atMs >= dueMs || isSignificantMove(told.position, position);
    if (!isDue) return true;
    const place: Place = { state: { kind: 'waiting', position }, queue, queueToken: fan.token, score: null };
    this.say(fan, this.messageOf(place, fan.matchId), 'update');
    this.remember(fan, place, nowMs);
    return true;
  }

  private async keepAlive(fans: readonly LiveFan[], nowMs: number): Promise<void> {
    const due = fans.filter((fan) => fan.devices.length > 0 && nowMs - fan.keptAtMs >= this.settings.persistenceMs / 3);
    await Promise.all(
      due.map(async (fan) => {
        fan.keptAtMs = nowMs;
        if (!(await this.places.keep(fan))) await this.refresh(fan, nowMs);
      }),
    );
  }

  private sayLastWord(devices: readonly Device[], place: Place, matchId: string): void {
    const message = this.messageOf(place, matchId);
    const left = place.state.kind === 'over' && place.state.status === 'left';
    for (const device of devices) {
      if (message) device.tell(message, 'needed');
      this.endDevice(device, { why: left ? 'left' : 'over' });
    }
  }

  private sayDelayed(): void {
    if (this.delayed) return;
    this.delayed = true;
    for (const fan of this.live.all()) {
      this.say(fan, DELAYED, 'needed');
      fan.told = undefined;
    }
  }

  private say(fan: LiveFan, message: string | undefined, weight: 'update' | 'needed'): void {
    if (message) for (const device of fan.devices) device.tell(message, weight);
  }

  private remember(fan: LiveFan, { state, queue }: Place, nowMs: number): void {
    if (state.kind === 'waiting') fan.told = { kind: 'waiting', position: state.position, revision: queue.revision, atMs: nowMs };
    if (state.kind === 'granted') fan.told = { kind: 'granted' };
  }

  private endDevice(device: Device, ending: Ending): void {
    this.disconnect(device);
    device.end(ending);
  }

  private messageOf(place: Place, matchId: string): string | undefined {
    const surroundings = {
      queue: place.queue,
      checkoutUrl: this.links.checkout(matchId),
      purchaseWindowMs: this.settings.purchaseWindowMs,
    };
    const message = messageFor(place.state, surroundings);
    return message && JSON.stringify(message);
  }
}

/** 0…1, the same for a token each time. */
function shareOf(token: string): number {
  return (token.charCodeAt(token.length - 1) % 32) / 32;
}

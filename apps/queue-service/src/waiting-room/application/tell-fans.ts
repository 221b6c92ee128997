import { messageFor, positionTexts } from '../domain/fan-messages.ts';
import type { QueueState } from '../domain/fan-state.ts';
import type { Device, Ending, NewStream } from './device.ts';
import { FollowedLine } from './followed-line.ts';
import { DEVICES_PER_FAN, type LiveFan, type LiveFans } from './live-fans.ts';
import { StateNeeded, type ConnectedPlaces, type Links, type Place, type TokenRead } from './ports.ts';
import type { SharedCount } from './shared-count.ts';
import type { SignsOfLife } from './signs-of-life.ts';

interface TellFansSettings {
  readonly updateMs: number;
  /** How often `runRound` is called. */
  readonly roundMs: number;
  readonly purchaseWindowMs: number;
}

const DELAYED = JSON.stringify({ type: 'delayed' });
/** Who stands so near hears of each step at once; the others of their place a second later. */
const NEAR_FRONT = 50;
/** Sending 200 messages keeps the event loop busy for about two milliseconds; then everybody else has a turn. */
const CHUNK = 200;
/** The regular message comes up to a twentieth early, by chance of the score, so that 5,000 fans do not get it in one instant. */
const EARLY_SHARE = 0.05;

/**
 * Keeps every connected fan told of the truth. Whatever hints arrive (an event, a message of another pod, the passing of
 * time), the answer is the same: bring the line up to date, or read the fan's place, and say what it has become. A lost hint
 * is thus only a delay, until the next round. Time is monotonic milliseconds, given by the caller.
 */
export class TellFans {
  /** Connections whose token could not be looked up because Redis was away. */
  private readonly unresolved = new Map<Device, string>();
  private readonly lines = new Map<string, FollowedLine>();
  private readonly running = new Map<string, { again: 'all' | 'near' | 'no'; done: Promise<void> }>();
  /** Matches whose fans have been told that nothing can be said at the moment. */
  private readonly delayed = new Set<string>();
  /** Once we drain: when the next device is to come back. */
  private retryAfterMs: (() => number) | undefined;

  constructor(
    private readonly places: ConnectedPlaces,
    private readonly live: LiveFans,
    private readonly links: Links,
    private readonly settings: TellFansSettings,
    private readonly signs: SignsOfLife,
    private readonly count: SharedCount,
  ) {}

  /** A new connection gets the present state at once. Without Redis it stays, is told so, and is looked at again each round. */
  async connect(device: Device, token: string, nowMs: number): Promise<void> {
    const read = () => this.places.readToken(token, device.id);
    const found = await this.count.arrive(device.id, read).catch(() => 'unreachable' as const);
    // Closed meanwhile, it has just been taken for connected.
    if (!device.isOpen && found && found !== 'unreachable') this.signs.noteParted(found, device.id);
    if (!device.isOpen) return;
    if (found !== 'unreachable') return void this.welcome(device, token, { found, nowMs });
    if (!this.unresolved.has(device)) device.tell(DELAYED, 'needed');
    this.unresolved.set(device, token);
  }

  /** A stream has no close codes: what cannot be served is told before `open` makes a device of it. Rejects without Redis. */
  async connectStream(token: string, { id, open }: NewStream, nowMs: number): Promise<'opened' | 'no_place' | 'too_many'> {
    const found = await this.count.arrive(id, () => this.places.readTokenOfStream(token, id));
    if (found === 'full') return 'too_many';
    if (found?.place.state.kind !== 'waiting' && found?.place.state.kind !== 'granted') return 'no_place';
    let device: Device | undefined;
    try {
      device = open();
    } finally {
      if (!device) this.signs.noteParted(found, id);
    }
    if (device) this.welcome(device, token, { found, nowMs });
    return 'opened';
  }

  disconnect(device: Device): void {
    this.unresolved.delete(device);
    const fan = this.live.remove(device);
    if (!fan) return;
    // Who is sent to another pod is not away.
    if (!this.retryAfterMs) this.signs.noteParted(fan, device.id);
    if (fan.devices.length > 0) return;
    this.lines.get(fan.matchId)?.forget(fan);
    if (this.live.hasMatch(fan.matchId)) return;
    this.lines.delete(fan.matchId);
    this.delayed.delete(fan.matchId);
  }

  /** Newer ones, on whatever pod, have taken their places. */
  endReplaced(devices: readonly Device[]): void {
    for (const device of devices) this.endDevice(device, { why: 'replaced' });
  }

  /** Something happened to this fan. */
  async refreshFan(matchId: string, userId: string, nowMs: number): Promise<void> {
    await Promise.all(this.live.ofUser(matchId, userId).map((fan) => this.refresh(fan, nowMs)));
  }

  /** One look at everybody connected; what is due or has changed is told. Rejects, and says so to all, when Redis is away. */
  async runRound(nowMs: number): Promise<void> {
    try {
      for (const matchId of this.live.matches()) await this.runMatchOrDelay(matchId, nowMs);
      await this.resolve(nowMs);
    } catch (error) {
      for (const matchId of this.live.matches()) this.sayDelayed(matchId);
      throw error;
    }
  }

  /** A match whose state is lost keeps the others from nothing. */
  private async runMatchOrDelay(matchId: string, nowMs: number): Promise<void> {
    try {
      await this.runMatch(matchId, nowMs);
      await this.signs.touch(matchId, nowMs);
      this.delayed.delete(matchId);
    } catch (error) {
      if (!(error instanceof StateNeeded)) throw error;
      this.sayDelayed(matchId);
    }
  }

  /** The fans of one match, or those near the front: a turn every tenth of a second must not be ten messages to a thousand. */
  async runMatch(matchId: string, nowMs: number, who: 'all' | 'near' = 'all'): Promise<void> {
    const running = this.running.get(matchId);
    if (running) {
      // Asked for while it runs, it runs once more.
      if (running.again !== 'all') running.again = who;
      return running.done;
    }
    const run: { again: 'all' | 'near' | 'no'; done: Promise<void> } = { again: who, done: Promise.resolve() };
    this.running.set(matchId, run);
    run.done = (async () => {
      try {
        while (run.again !== 'no') {
          const last = run.again === 'near' ? NEAR_FRONT : Infinity;
          run.again = 'no';
          await this.tellMatch(matchId, nowMs, last);
        }
      } finally {
        this.running.delete(matchId);
      }
    })();
    return run.done;
  }

  /** Everybody is sent away, each with a time of their own to come back. */
  drain(retryAfterMs: () => number): void {
    this.retryAfterMs = retryAfterMs;
    for (const device of [...this.live.all().flatMap((fan) => fan.devices), ...this.unresolved.keys()]) {
      this.endDevice(device, { why: 'draining', retryAfterMs: retryAfterMs() });
    }
  }

  private welcome(device: Device, token: string, { found, nowMs }: { found: TokenRead | undefined; nowMs: number }): void {
    this.unresolved.delete(device);
    // It came a moment before everybody was sent away.
    if (this.retryAfterMs) return void device.end({ why: 'draining', retryAfterMs: this.retryAfterMs() });
    if (!found || found.place.state.kind === 'nowhere') return void device.end({ why: 'unknown_token' });
    if (found.place.state.kind === 'over') return void this.sayLastWord([device], found.place, found.matchId);
    const fan = this.live.add({ matchId: found.matchId, userId: found.userId, token }, device, nowMs);
    this.endReplaced(fan.devices.slice(0, -DEVICES_PER_FAN));
    const message = this.messageOf(found.place, fan.matchId);
    if (message) device.tell(message, 'needed');
    if (fan.devices.length === 1)
      this.lineOf(fan.matchId).note(fan, found.place, { nowMs, dueAtMs: this.nextDueMs(Number(found.place.score), nowMs) });
  }

  /** Thousands may have come while Redis was away. */
  private async resolve(nowMs: number): Promise<void> {
    const waiting = [...this.unresolved];
    for (let from = 0; from < waiting.length; from += CHUNK) {
      const chunk = waiting.slice(from, from + CHUNK);
      await Promise.all(chunk.map(([device, token]) => this.connect(device, token, nowMs)));
    }
  }

  private async tellMatch(matchId: string, nowMs: number, last: number): Promise<void> {
    const fans = this.live.ofMatch(matchId);
    if (fans.length === 0) return;
    const line = this.lineOf(matchId);
    const looked = await line.look(fans, nowMs);
    if (!looked) return this.refreshAll(fans, nowMs);
    const { queue, unclear } = looked;
    await this.tellDue(line, queue, { nowMs, last });
    const others = fans.filter((fan) => fan.score === undefined && fan.devices.length > 0);
    await this.refreshAll(await this.unsettled(matchId, [...new Set([...unclear, ...others])]), nowMs);
    await this.refreshAll(await this.signs.keepAlive(fans, nowMs), nowMs);
  }

  private async tellDue(line: FollowedLine, queue: QueueState, { nowMs, last }: { nowMs: number; last: number }): Promise<void> {
    const textAt = positionTexts({ queue, purchaseWindowMs: this.settings.purchaseWindowMs });
    let after: number | undefined;
    for (;;) {
      const due = line.takeDue(nowMs, (score) => this.nextDueMs(score, nowMs), { last, after, most: CHUNK });
      // Remembered now: whoever leaves meanwhile has none any more.
      after = due.at(-1)?.fan.score;
      for (const { fan, position } of due) {
        fan.told = 'waiting';
        this.say(fan, textAt(position), 'update');
      }
      if (due.length < CHUNK) return;
      await new Promise(setImmediate);
    }
  }

  /** Of fans who are not in line, those whose turn is not simply going on. */
  private async unsettled(matchId: string, fans: readonly LiveFan[]): Promise<LiveFan[]> {
    const unsettled: LiveFan[] = [];
    for (let from = 0; from < fans.length; from += CHUNK) {
      const chunk = fans.slice(from, from + CHUNK);
      const inTurn = chunk.filter((fan) => fan.told === 'granted');
      unsettled.push(...chunk.filter((fan) => fan.told !== 'granted'));
      const ids = inTurn.map(({ userId }) => userId);
      const { positions } = await this.places.readPositions(matchId, ids);
      unsettled.push(...inTurn.filter((_, at) => positions[at] !== 0));
    }
    return unsettled;
  }

  private async refreshAll(fans: readonly LiveFan[], nowMs: number): Promise<void> {
    for (let from = 0; from < fans.length; from += CHUNK) {
      await Promise.all(fans.slice(from, from + CHUNK).map((fan) => this.refresh(fan, nowMs)));
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
    if (place.state.kind === 'granted' && fan.told === 'granted') return;
    this.say(fan, this.messageOf(place, fan.matchId), place.state.kind === 'granted' ? 'needed' : 'update');
    this.lineOf(fan.matchId).note(fan, place, { nowMs, dueAtMs: this.nextDueMs(Number(place.score), nowMs) });
  }

  /** Not due now means waiting for the next round. */
  private nextDueMs(score: number, nowMs: number): number {
    const { updateMs, roundMs } = this.settings;
    return nowMs + (updateMs - roundMs) * (1 - EARLY_SHARE * shareOf(score));
  }

  private sayLastWord(devices: readonly Device[], place: Place, matchId: string): void {
    const message = this.messageOf(place, matchId);
    const left = place.state.kind === 'over' && place.state.status === 'left';
    for (const device of devices) {
      if (message) device.tell(message, 'needed');
      this.endDevice(device, { why: left ? 'left' : 'over' });
    }
  }

  private sayDelayed(matchId: string): void {
    if (this.delayed.has(matchId)) return;
    this.delayed.add(matchId);
    for (const fan of this.live.ofMatch(matchId)) {
      this.say(fan, DELAYED, 'needed');
      fan.told = undefined;
    }
    this.lines.get(matchId)?.makeAllDue();
  }

  private say(fan: LiveFan, message: string | undefined, weight: 'update' | 'needed'): void {
    if (message) for (const device of fan.devices) device.tell(message, weight);
  }

  private endDevice(device: Device, ending: Ending): void {
    this.disconnect(device);
    device.end(ending);
  }

  private lineOf(matchId: string): FollowedLine {
    let line = this.lines.get(matchId);
    if (!line) {
      line = new FollowedLine(matchId, this.places);
      this.lines.set(matchId, line);
    }
    return line;
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

/** 0…1, the same for a fan each time: the last microseconds of the joining are anybody's. */
function shareOf(score: number): number {
  return (score % 32) / 32;
}

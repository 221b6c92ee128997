import type { Device, Ending } from './device.ts';
import type { FollowedLines } from './followed-lines.ts';
import { DEVICES_PER_FAN, tellDevices, type LiveFan, type LiveFans } from './live-fans.ts';
import type { MessageTexts } from './message-texts.ts';
import type { QueueEntry, TokenRead } from './ports.ts';
import type { SignsOfLife } from './signs-of-life.ts';

/**
 * The connections of known fans, from the first message to the close code. What was read for a fan's token is told here, and in
 * no other way:
 *
 *     waiting           position message; the fan's line is followed from now on
 *     turn granted      turn message, once
 *     over, left        the last message if there is one, then the connection is closed
 *     unknown token     the connection is closed
 *
 * Only positions that change later, by moves of the line, are told without reading the fan again (MatchUpdates).
 */
export class FanConnections {
  /** Set once we drain: how long the next device is to wait before it comes back. */
  private retryAfterMs: (() => number) | undefined;

  constructor(
    private readonly live: LiveFans,
    private readonly lines: FollowedLines,
    private readonly signs: SignsOfLife,
    private readonly texts: MessageTexts,
  ) {}

  /** A new connection. It gets the present state at once. */
  add(device: Device, token: string, found: TokenRead | undefined, nowMs: number): void {
    // Its token was being looked up while all the others were closed.
    if (this.retryAfterMs) return device.end({ why: 'draining', retryAfterMs: this.retryAfterMs() });
    if (!found || found.entry.state.kind === 'nowhere') return device.end({ why: 'unknown_token' });
    const { entry, matchId, userId } = found;
    if (entry.state.kind === 'over') return this.endWithLastMessage([device], entry, matchId);
    const fan = this.live.add({ matchId, userId, token }, device, nowMs);
    this.endReplaced(fan.devices.slice(0, -DEVICES_PER_FAN));
    const message = this.texts.of(entry, fan.matchId);
    if (message) device.tell(message, 'needed');
    if (fan.devices.length === 1) this.lines.of(fan.matchId).note(fan, entry, nowMs);
  }

  /** The fan's token was read again. */
  update(fan: LiveFan, found: TokenRead | undefined, nowMs: number): void {
    if (!found || found.entry.state.kind === 'nowhere') {
      for (const device of [...fan.devices]) this.end(device, { why: 'unknown_token' });
      return;
    }
    const { entry } = found;
    if (entry.state.kind === 'over') return this.endWithLastMessage([...fan.devices], entry, fan.matchId);
    const isGranted = entry.state.kind === 'granted';
    if (isGranted && fan.told === 'granted') return;
    const message = this.texts.of(entry, fan.matchId);
    if (message) tellDevices(fan, message, isGranted ? 'needed' : 'update');
    this.lines.of(fan.matchId).note(fan, entry, nowMs);
  }

  /** A connection has closed, or is about to be closed by us. */
  remove(device: Device): void {
    const fan = this.live.remove(device);
    if (!fan) return;
    // A fan who is sent to another pod is not away.
    if (!this.retryAfterMs) this.signs.noteParted(fan, device.id);
    if (fan.devices.length > 0) return;
    this.lines.find(fan.matchId)?.forget(fan);
    if (!this.live.hasMatch(fan.matchId)) this.lines.delete(fan.matchId);
  }

  /** Newer connections of the same fans, to any pod, count instead of these. */
  endReplaced(devices: readonly Device[]): void {
    for (const device of devices) this.end(device, { why: 'replaced' });
  }

  /** Closes all connections, each with its own time to come back, and from now on every new one. */
  drain(retryAfterMs: () => number): void {
    this.retryAfterMs = retryAfterMs;
    for (const device of this.live.all().flatMap((fan) => fan.devices)) {
      this.end(device, { why: 'draining', retryAfterMs: retryAfterMs() });
    }
  }

  private endWithLastMessage(devices: readonly Device[], entry: QueueEntry, matchId: string): void {
    const message = this.texts.of(entry, matchId);
    const isLeft = entry.state.kind === 'over' && entry.state.status === 'left';
    for (const device of devices) {
      if (message) device.tell(message, 'needed');
      this.end(device, { why: isLeft ? 'left' : 'over' });
    }
  }

  private end(device: Device, ending: Ending): void {
    this.remove(device);
    device.end(ending);
  }
}

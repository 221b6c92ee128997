import type { DisconnectReason, Device } from './device.ts';
import type { FollowedLines } from './followed-lines.ts';
import { MAX_DEVICES_PER_FAN, sendToDevices, type LiveFan, type LiveFans } from './live-fans.ts';
import type { MessageTexts } from './message-texts.ts';
import type { QueueEntry, TokenLookup } from './ports.ts';
import type { PresenceReports } from './presence-reports.ts';

/**
 * Sends fans what a read of their queue token found, and closes their connections. Each result of a read leads to:
 *
 *     waiting           position message; the fan's line is followed from now on
 *     granted           turn message, once
 *     over              the final message (none for a fan who left), then the connection is closed
 *     unknown token     the connection is closed
 *
 * Later positions need no new read of the token: FanUpdates computes them from the moves of the line (who left, who came back).
 */
export class FanConnections {
  /** Set when the pod shuts down (drains): gives the time that the next closed device must wait before it reconnects. */
  private retryAfterMs: (() => number) | undefined;

  constructor(
    private readonly liveFans: LiveFans,
    private readonly lines: FollowedLines,
    private readonly presence: PresenceReports,
    private readonly texts: MessageTexts,
  ) {}

  /** Adds a new connection and sends it the current state at once. */
  add(device: Device, token: string, found: TokenLookup | undefined, nowMs: number): void {
    // The pod started to drain while this token was being read.
    if (this.retryAfterMs) return device.close({ kind: 'draining', retryAfterMs: this.retryAfterMs() });
    if (!found || found.entry.state.kind === 'not_in_line') return device.close({ kind: 'unknownToken' });
    const { entry, matchId, userId } = found;
    if (entry.state.kind === 'over') return this.closeWithFinalMessage([device], entry, matchId);
    const fan = this.liveFans.add({ matchId, userId, token }, device, nowMs);
    this.closeReplaced(fan.devices.slice(0, -MAX_DEVICES_PER_FAN));
    const message = this.texts.of(entry, fan.matchId);
    if (message) device.send(message, 'required');
    if (fan.devices.length === 1) this.lines.of(fan.matchId).follow(fan, entry, nowMs);
  }

  /** Sends the result of reading the fan's token again. */
  update(fan: LiveFan, found: TokenLookup | undefined, nowMs: number): void {
    if (!found || found.entry.state.kind === 'not_in_line') {
      for (const device of [...fan.devices]) this.close(device, { kind: 'unknownToken' });
      return;
    }
    const { entry } = found;
    if (entry.state.kind === 'over') return this.closeWithFinalMessage([...fan.devices], entry, fan.matchId);
    const isGranted = entry.state.kind === 'granted';
    if (isGranted && fan.lastSent === 'granted') return;
    const message = this.texts.of(entry, fan.matchId);
    if (message) sendToDevices(fan, message, isGranted ? 'required' : 'skippable');
    this.lines.of(fan.matchId).follow(fan, entry, nowMs);
  }

  /** Removes a connection that has closed or that the pod is about to close. */
  remove(device: Device): void {
    const fan = this.liveFans.remove(device);
    if (!fan) return;
    // A draining pod reports no closed connections: its fans reconnect to other pods and are not away.
    if (!this.retryAfterMs) this.presence.noteClosed(fan, device.id);
    if (fan.devices.length > 0) return;
    this.lines.find(fan.matchId)?.unfollow(fan);
    if (!this.liveFans.hasMatch(fan.matchId)) this.lines.delete(fan.matchId);
  }

  /** Closes connections that newer connections of the same fans, to any pod, have replaced. */
  closeReplaced(devices: readonly Device[]): void {
    for (const device of devices) this.close(device, { kind: 'replacedByNewerDevice' });
  }

  /**
   * Closes all connections, and from now on every new connection. `retryAfterMs` gives each client its own delay before it
   * reconnects.
   */
  drain(retryAfterMs: () => number): void {
    this.retryAfterMs = retryAfterMs;
    for (const device of this.liveFans.all().flatMap((fan) => fan.devices)) {
      this.close(device, { kind: 'draining', retryAfterMs: retryAfterMs() });
    }
  }

  private closeWithFinalMessage(devices: readonly Device[], entry: QueueEntry, matchId: string): void {
    const message = this.texts.of(entry, matchId);
    const isLeft = entry.state.kind === 'over' && entry.state.status === 'left';
    for (const device of devices) {
      if (message) device.send(message, 'required');
      this.close(device, { kind: isLeft ? 'left' : 'over' });
    }
  }

  private close(device: Device, reason: DisconnectReason): void {
    this.remove(device);
    device.close(reason);
  }
}

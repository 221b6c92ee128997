import type { ServerResponse } from 'node:http';
import { Device, type DisconnectReason } from '../application/device.ts';

/** Above this much unsent data a client misses skippable messages. */
const SLOW_CLIENT_BYTES = 64 * 1024;
/** Above this much unsent data a client is disconnected, so that it cannot fill the server's memory. */
const MAX_UNSENT_BYTES = 256 * 1024;
/** How long a browser waits before it opens a closed stream again. */
const RETRY_MS = 3000;

/** One event stream of a fan: unnamed events, the same JSON as on a socket. */
export class StreamDevice extends Device {
  constructor(
    override readonly id: string,
    private readonly response: ServerResponse,
  ) {
    super();
  }

  override get isOpen(): boolean {
    return !this.response.writableEnded && !this.response.destroyed;
  }

  start(): void {
    this.write(`retry: ${RETRY_MS}\n\n`);
  }

  /** Sends a comment, so that proxies do not close a stream without messages. */
  sendKeepAlive(): void {
    this.write(':\n\n');
  }

  override send(text: string, kind: 'skippable' | 'required'): void {
    if (kind === 'skippable' && this.response.writableLength > SLOW_CLIENT_BYTES) return;
    this.write(`data: ${text}\n\n`);
  }

  /** Ends the stream. Streams have no close codes: the client reconnects and gets 404, or a stream from another pod. */
  override close(reason: DisconnectReason): void {
    if (!this.isOpen) return;
    if (reason.kind === 'draining') this.write(`retry: ${reason.retryAfterMs}\n\n`);
    this.response.end();
  }

  private write(text: string): void {
    if (!this.isOpen) return;
    if (this.response.writableLength > MAX_UNSENT_BYTES) this.response.destroy();
    else this.response.write(text);
  }
}

/** All open event streams of this pod. */
export class OpenStreams {
  private readonly devices = new Set<StreamDevice>();

  add(device: StreamDevice): void {
    this.devices.add(device);
  }

  delete(device: StreamDevice): void {
    this.devices.delete(device);
  }

  /** Sends a keep-alive comment on every stream. Called every 15 seconds. */
  sendKeepAlives(): void {
    for (const device of this.devices) device.sendKeepAlive();
  }
}

import type { ServerResponse } from 'node:http';
import { Device, type Ending } from '../application/device.ts';

const SLOW_BYTES = 64 * 1024;
const LOST_BYTES = 256 * 1024;
/** What a browser waits before it connects again. */
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

  /** Keeps proxies from taking a quiet stream for a dead one. */
  breathe(): void {
    this.write(':\n\n');
  }

  override tell(text: string, weight: 'update' | 'needed'): void {
    if (weight === 'update' && this.response.writableLength > SLOW_BYTES) return;
    this.write(`data: ${text}\n\n`);
  }

  /** A stream has no close code: it ends, and coming back it is answered with 404, or by another pod. */
  override end(ending: Ending): void {
    if (!this.isOpen) return;
    if (ending.why === 'draining') this.write(`retry: ${ending.retryAfterMs}\n\n`);
    this.response.end();
  }

  private write(text: string): void {
    if (!this.isOpen) return;
    if (this.response.writableLength > LOST_BYTES) this.response.destroy();
    else this.response.write(text);
  }
}

/** Every open stream of this pod. */
export class OpenStreams {
  private readonly devices = new Set<StreamDevice>();

  add(device: StreamDevice): void {
    this.devices.add(device);
  }

  delete(device: StreamDevice): void {
    this.devices.delete(device);
  }

  /** Called every 15 seconds. */
  breathe(): void {
    for (const device of this.devices) device.breathe();
  }
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import { EventStream } from '#platform/http/event-stream';
import type { Device, DisconnectReason } from '../application/device.ts';

/** Above this much unsent data a client misses skippable messages. */
const SLOW_CLIENT_BYTES = 64 * 1024;
/** Above this much unsent data a client is disconnected. */
const MAX_UNSENT_BYTES = 256 * 1024;

/** One event stream of a fan: the same JSON as on a socket. */
export class StreamDevice implements Device {
  private constructor(
    readonly id: string,
    private readonly stream: EventStream,
  ) {}

  /** Opens a stream. Undefined for HEAD, which gets only the headers, and for a client that has disconnected. */
  static open(
    id: string,
    request: FastifyRequest,
    reply: FastifyReply,
    whenClosed: (device: StreamDevice) => void,
  ): StreamDevice | undefined {
    const stream = EventStream.open(request, reply, () => whenClosed(device), MAX_UNSENT_BYTES);
    if (!stream) return undefined;
    const device = new StreamDevice(id, stream);
    return device;
  }

  get isOpen(): boolean {
    return this.stream.isOpen;
  }

  send(text: string, kind: 'skippable' | 'required'): void {
    if (kind === 'required' || this.stream.unsentBytes <= SLOW_CLIENT_BYTES) this.stream.send(text);
  }

  sendHeartbeat(): void {
    this.stream.sendHeartbeat();
  }

  /** Ends the stream. Streams have no close codes: the client reconnects and gets 404, or a stream from another pod. */
  close(reason: DisconnectReason): void {
    this.stream.end(reason.kind === 'draining' ? reason.retryAfterMs : undefined);
  }
}

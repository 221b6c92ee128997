import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServerResponse } from 'node:http';

/** Above this much unsent data a reader is disconnected, unless the stream has a limit of its own. */
const MAX_UNSENT_BYTES = 64 * 1024;
/** How long a browser waits before it reconnects. */
const RETRY_MS = 3000;

/**
 * A stream of server-sent events to one reader. Events have no name; their data is one line of JSON. A reader that is too slow is
 * disconnected, so that it cannot fill the server's memory; it reconnects and gets the current state.
 */
export class EventStream {
  private constructor(
    private readonly response: ServerResponse,
    private readonly maxUnsentBytes: number,
  ) {}

  /**
   * Takes over the response from Fastify, with the headers that hooks have set. Returns undefined if there is nothing to stream:
   * for a HEAD request, which is answered with the headers alone, and for a client that has already disconnected.
   */
  static open(
    request: FastifyRequest,
    reply: FastifyReply,
    whenClosed: (stream: EventStream) => void,
    maxUnsentBytes = MAX_UNSENT_BYTES,
  ): EventStream | undefined {
    const headers = { ...reply.getHeaders(), 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
    reply.hijack();
    const { raw: response } = reply;
    response.on('error', () => undefined);
    // The client disconnected before this call, so no `close` event would come.
    if (response.destroyed) return undefined;
    response.writeHead(200, headers as Record<string, string>);
    if (request.method === 'HEAD') {
      response.end();
      return undefined;
    }
    const stream = new EventStream(response, maxUnsentBytes);
    response.once('close', () => whenClosed(stream));
    stream.write(`retry: ${RETRY_MS}\n\n`);
    return stream;
  }

  get isOpen(): boolean {
    return !this.response.writableEnded && !this.response.destroyed;
  }

  get unsentBytes(): number {
    return this.response.writableLength;
  }

  send(text: string): void {
    this.write(`data: ${text}\n\n`);
  }

  /** Sends a comment as a heartbeat, so that proxies do not close a stream without events. */
  sendHeartbeat(): void {
    this.write(':\n\n');
  }

  /** Closes the stream. The reader reconnects after `retryMs`, or after the time that it was told at the start. */
  end(retryMs?: number): void {
    if (retryMs !== undefined) this.write(`retry: ${retryMs}\n\n`);
    if (this.isOpen) this.response.end();
  }

  private write(text: string): void {
    if (!this.isOpen) return;
    if (this.unsentBytes > this.maxUnsentBytes) this.response.destroy();
    else this.response.write(text);
  }
}

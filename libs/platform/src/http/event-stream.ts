import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServerResponse } from 'node:http';

/**
 * Maximum number of bytes that wait to be sent to one reader. A reader that is too slow is disconnected; it reconnects and gets
 * the current state.
 */
const MAX_BACKLOG_BYTES = 64 * 1024;
/** How long a browser waits before it reconnects. */
const RETRY_MS = 3000;

/** A stream of server-sent events to one reader. Events have no name; their data is one line of JSON. */
export class EventStream {
  private constructor(private readonly response: ServerResponse) {}

  /**
   * Takes over the response from Fastify, with the headers that hooks have set. Returns undefined if there is nothing to stream:
   * for a HEAD request, which is answered with the headers alone, and for a client that has already disconnected.
   */
  static open(request: FastifyRequest, reply: FastifyReply, whenClosed: (stream: EventStream) => void): EventStream | undefined {
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
    const stream = new EventStream(response);
    response.once('close', () => whenClosed(stream));
    stream.write(`retry: ${RETRY_MS}\n\n`);
    return stream;
  }

  send(text: string): void {
    this.write(`data: ${text}\n\n`);
  }

  /** Sends a comment as a heartbeat, so that proxies do not close a stream without events. */
  sendHeartbeat(): void {
    this.write(':\n\n');
  }

  /** Closes the stream. The reader reconnects after `retryMs`. */
  end(retryMs: number): void {
    this.write(`retry: ${retryMs}\n\n`);
    if (!this.response.destroyed) this.response.end();
  }

  private write(text: string): void {
    if (this.response.writableEnded || this.response.destroyed) return;
    if (this.response.writableLength > MAX_BACKLOG_BYTES) this.response.destroy();
    else this.response.write(text);
  }
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServerResponse } from 'node:http';

/** Written and not yet taken: whoever is so far behind is cut off and comes back for the state as it is then. */
const MOST_BACKLOG_BYTES = 64 * 1024;
/** What a browser waits before it connects again. */
const RETRY_MS = 3000;

/** A stream of server-sent events to one reader: unnamed events, each a line of JSON. */
export class EventStream {
  private constructor(private readonly response: ServerResponse) {}

  /** Takes the answer out of Fastify's hands, with the headers its hooks have set. Undefined for HEAD, which is answered by that, and for who is gone. */
  static open(request: FastifyRequest, reply: FastifyReply, whenClosed: (stream: EventStream) => void): EventStream | undefined {
    const headers = { ...reply.getHeaders(), 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
    reply.hijack();
    const { raw: response } = reply;
    response.on('error', () => undefined);
    // Gone while the request was looked into: nobody would ever hear it close.
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

  /** Keeps proxies from taking a quiet stream for a dead one. */
  breathe(): void {
    this.write(':\n\n');
  }

  /** Good-bye; the reader comes back after so long. */
  end(retryMs: number): void {
    this.write(`retry: ${retryMs}\n\n`);
    if (!this.response.destroyed) this.response.end();
  }

  private write(text: string): void {
    if (this.response.writableEnded || this.response.destroyed) return;
    if (this.response.writableLength > MOST_BACKLOG_BYTES) this.response.destroy();
    else this.response.write(text);
  }
}

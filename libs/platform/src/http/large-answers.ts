import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';

/** Answers up to this size are written at once. */
const MAX_WHOLE_BYTES = 128 * 1024;
/** Characters, or bytes of a buffer, in one piece. A piece of text takes at most three times as many bytes. */
const PIECE_LENGTH = 32 * 1024;
/**
 * How much memory all answers take together that are being written in pieces. Clients with the same text share it; the seats of a sector
 * change up to once a second, and a slow client keeps the text that it began to read. Above this the oldest text is given up.
 */
const MAX_SHARED_BYTES = 64 * 1024 * 1024;

type Body = string | Buffer;

/** The large answers that clients are reading now. */
export class LargeAnswers {
  /** In the order of their first reader. */
  private readonly readers = new Map<Body, Set<Readable>>();
  private bytes = 0;

  constructor(private readonly maxSharedBytes = MAX_SHARED_BYTES) {}

  /** A stream of the body in pieces, each made when the client has read those before it. */
  open(given: Body): Readable {
    const { body, streams } = this.share(given);
    let from = 0;
    const stream = new Readable({
      // Pieces of text stay text: a slice shares the memory of the whole, where a buffer would be garbage after its way to the kernel.
      objectMode: true,
      highWaterMark: 1,
      read() {
        const to = endOfPiece(body, from);
        stream.push(from === body.length ? null : typeof body === 'string' ? body.slice(from, to) : body.subarray(from, to));
        from = to;
      },
    });
    streams.add(stream);
    stream.once('close', () => this.release(body, stream));
    return stream;
  }

  /** The known body that equals `given`, so that answers with the same text take the memory of one. */
  private share(given: Body): { body: Body; streams: Set<Readable> } {
    for (const [body, streams] of this.readers) if (body === given) return { body, streams };
    const streams = new Set<Readable>();
    this.readers.set(given, streams);
    this.bytes += given.length;
    this.giveUpOldest();
    return { body: given, streams };
  }

  private release(body: Body, stream: Readable): void {
    const streams = this.readers.get(body);
    if (!streams?.delete(stream) || streams.size > 0) return;
    this.readers.delete(body);
    this.bytes -= body.length;
  }

  private giveUpOldest(): void {
    for (const [body, streams] of this.readers) {
      if (this.bytes <= this.maxSharedBytes || this.readers.size === 1) return;
      this.readers.delete(body);
      this.bytes -= body.length;
      for (const stream of streams) stream.destroy(new Error('The client reads too slowly.'));
    }
  }
}

/** A piece never ends between the two halves of a character outside of the Basic Multilingual Plane. */
function endOfPiece(body: Body, from: number): number {
  const to = Math.min(body.length, from + PIECE_LENGTH);
  if (typeof body !== 'string' || to === body.length) return to;
  const last = body.charCodeAt(to - 1);
  return last >= 0xd800 && last <= 0xdbff ? to - 1 : to;
}

/**
 * Lets all routes write large answers in pieces, as the client reads: a connection holds less than 256 KB of unread answers
 * (CONTRACT §9). Register it after all other hooks that change an answer. Streams are written in pieces anyway.
 */
export function writeLargeAnswersInPieces(fastify: FastifyInstance): void {
  const answers = new LargeAnswers();
  const inPieces = (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: Error | null, payload?: unknown) => void,
  ): void => {
    const isBody = typeof payload === 'string' || Buffer.isBuffer(payload);
    // A text of so few characters may have three times as many bytes.
    if (!isBody || payload.length <= MAX_WHOLE_BYTES / 3 || request.method === 'HEAD') return done(null, payload);
    const bytes = Buffer.byteLength(payload);
    if (bytes <= MAX_WHOLE_BYTES) return done(null, payload);
    void reply.header('content-length', String(bytes));
    done(null, answers.open(payload));
  };
  fastify.addHook('onRoute', (route: RouteOptions) => {
    route.onSend = [...[route.onSend ?? []].flat(), inPieces];
  });
}

import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { LRUCache } from 'lru-cache';
import { rulesOf } from './route-rules.ts';

/**
 * Compresses answers that are the same for every caller: public reads that a cache may store, and the API documents.
 *
 * All other answers are sent as they are. They are `no-store` and may hold a secret (a token, a code, an address) beside text that
 * the request has chosen; from the size of the compressed answer an attacker could guess the secret (BREACH). Event streams take
 * over the connection and never come here. Small answers would not travel faster.
 */

/** Answers below this size fit into three network packets and are not compressed. */
export const MIN_COMPRESSED_LENGTH = 4096;
/**
 * Memory for compressed answers, for each encoding. An answer counts with its text, because the cache keeps it as the key. The seats
 * of a sector of 1,000 take 130 KB together.
 */
const MAX_CACHE_BYTES = 16 * 1024 * 1024;
/** While so many answers are being compressed, further ones are sent as they are: Node has four threads for this work. */
const MAX_IN_PROGRESS = 4;

type Encoding = 'br' | 'gzip';
type Compress = (text: string) => Promise<Buffer>;

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = zlib.constants;
const [brotli, gzip] = [promisify(zlib.brotliCompress), promisify(zlib.gzip)];
/** Fast levels: the best ones take four times as long for 3 % fewer bytes, and a map of seats lives for a moment only. */
const compressors: Readonly<Record<Encoding, Compress>> = {
  br: (text) => brotli(text, { params: { [BROTLI_PARAM_QUALITY]: 4, [BROTLI_PARAM_SIZE_HINT]: text.length } }),
  gzip: (text) => gzip(text, { level: 4 }),
};

/**
 * Compresses a text once for all requests. The key is the text itself and not an ETag: seats with the same ETag may have another
 * `version` in the text.
 */
export class SharedCompressions {
  private readonly inProgress = new Map<string, Promise<Buffer>>();
  private readonly done = new LRUCache<string, Buffer>({
    maxSize: MAX_CACHE_BYTES,
    sizeCalculation: (compressed, text) => compressed.length + text.length,
  });

  constructor(private readonly compress: Compress) {}

  /** The compressed text, or undefined if too many texts are being compressed now. */
  get(text: string): Buffer | Promise<Buffer> | undefined {
    const known = this.done.get(text) ?? this.inProgress.get(text);
    if (known || this.inProgress.size >= MAX_IN_PROGRESS) return known;
    const started = this.compress(text)
      .then((compressed) => {
        this.done.set(text, compressed);
        return compressed;
      })
      .finally(() => this.inProgress.delete(text));
    this.inProgress.set(text, started);
    return started;
  }
}

/** The encoding that the client prefers: brotli, gzip, or undefined for neither. */
export function acceptedEncoding(request: FastifyRequest): Encoding | undefined {
  const header = request.headers['accept-encoding'];
  if (typeof header !== 'string') return undefined;
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(coding, weight === undefined ? 1 : Number(weight) || 0);
  }
  const weightOf = (coding: string): number => weights.get(coding) ?? weights.get('*') ?? 0;
  const best: Encoding = weightOf('br') >= weightOf('gzip') ? 'br' : 'gzip';
  const isWanted = weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0);
  return isWanted ? best : undefined;
}

/**
 * True if this text is compressed for this request. Its ETag is weak then, because the same state has another one as plain text.
 */
export function isCompressedFor(request: FastifyRequest, text: string): boolean {
  return text.length >= MIN_COMPRESSED_LENGTH && acceptedEncoding(request) !== undefined;
}

/** Adds the compression to all routes that anybody may read. Other routes get no hook, so they cost nothing. */
export function compressSharedAnswers(fastify: FastifyInstance): void {
  const shared = { br: new SharedCompressions(compressors.br), gzip: new SharedCompressions(compressors.gzip) };
  const compressAnswer = (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: Error | null, payload?: unknown) => void,
  ): void => {
    if (!isTheSameForAll(request, reply, payload)) return done(null, payload);
    addVary(reply);
    if (request.method !== 'GET' || reply.statusCode !== 200 || typeof payload !== 'string') return done(null, payload);
    if (!isCompressedFor(request, payload) || reply.hasHeader('content-encoding')) return done(null, payload);
    const encoding = acceptedEncoding(request)!;
    const send = (compressed: Buffer): void => {
      void reply.header('content-encoding', encoding).removeHeader('content-length');
      done(null, compressed);
    };
    const compressed = shared[encoding].get(payload);
    const sendPlain = (): void => done(null, payload);
    if (compressed === undefined) return sendPlain();
    if (Buffer.isBuffer(compressed)) return send(compressed);
    // An answer that could not be compressed is sent as it is.
    void compressed.catch(() => undefined).then((bytes) => (bytes ? send(bytes) : sendPlain()));
  };
  fastify.addHook('onRoute', (route: RouteOptions) => {
    const isRead = [route.method].flat().some((method) => method === 'GET' || method === 'HEAD');
    const access = route.config?.access ?? 'public';
    if (isRead && access === 'public') route.onSend = [...[route.onSend ?? []].flat(), compressAnswer];
  });
}

/** Routes without declared access are those of plugins: the API documents. Files are streams and have their own compressed files. */
function isTheSameForAll(request: FastifyRequest, reply: FastifyReply, payload: unknown): boolean {
  if (rulesOf(request).access === undefined) return typeof payload === 'string' && reply.statusCode === 200;
  return reply.getHeader('cache-control') !== 'no-store';
}

function addVary(reply: FastifyReply): void {
  const vary = String(reply.getHeader('vary') ?? '');
  if (!/accept-encoding/i.test(vary)) void reply.header('vary', vary === '' ? 'Accept-Encoding' : `${vary}, Accept-Encoding`);
}

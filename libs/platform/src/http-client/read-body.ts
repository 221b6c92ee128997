import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { HttpCallFailed } from './http-call-failed.ts';

/**
 * An answer that is larger than `RATIO_CHECK_MIN_BYTES` and compressed by more than this ratio is refused as a compression bomb.
 */
const MAX_COMPRESSION_RATIO = 50;
const RATIO_CHECK_MIN_BYTES = 256 * 1024;

/** How much of an answer's body is read, in bytes after decompression. */
export interface BodyLimit {
  readonly limitBytes: number;
  /** What happens with a larger body: the call fails (the default), or the rest of the body is ignored. */
  readonly whenLarger?: 'fail' | 'cut';
}

/** Reads and decompresses the body of an answer. Leaving it unfinished closes the connection. */
export async function readBody(answer: IncomingMessage, { limitBytes, whenLarger }: BodyLimit): Promise<string> {
  const fail = (code: HttpCallFailed['code']) => new HttpCallFailed(code, true, answer.statusCode);
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') {
    answer.destroy();
    throw fail('unknown_compression');
  }
  let compressedBytes = 0;
  answer.on('data', (bytes: Buffer) => (compressedBytes += bytes.length));
  const decompressed: Readable = encoding === 'gzip' ? pipeline(answer, createGunzip(), () => undefined) : answer;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of decompressed as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > RATIO_CHECK_MIN_BYTES && size > compressedBytes * MAX_COMPRESSION_RATIO) throw fail('compressed_too_much');
    if (size > limitBytes && whenLarger === 'cut') break;
    if (size > limitBytes) throw fail('too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isCompressedFor } from './compression.ts';

/** The 304 response in the API description of a public read (a GET without a caller). */
export const NOT_MODIFIED = { status: 304, description: 'Unchanged since the ETag in If-None-Match' };

/**
 * Answers a public read (a GET without a caller). Caches may store the answer but must revalidate it each time; an unchanged
 * answer is 304 without a body.
 */
export function sendCacheable(request: FastifyRequest, reply: FastifyReply, body: unknown): void {
  const text = JSON.stringify(body);
  sendTagged(request, reply, text, createHash('sha1').update(text).digest('base64url'));
}

/** Like `sendCacheable`, with a text and an ETag that the caller of this function has computed. */
export function sendTagged(request: FastifyRequest, reply: FastifyReply, text: string, tag: string): void {
  const etag = `"${tag}"`;
  // A compressed answer has a weak ETag, because it is not the same bytes as the plain text with this ETag.
  const shownEtag = isCompressedFor(request, text) ? `W/${etag}` : etag;
  void reply.headers({ 'cache-control': 'no-cache', etag: shownEtag });
  const knownTags = (request.headers['if-none-match'] ?? '').split(',').map((item) => item.trim().replace(/^W\//, ''));
  if (knownTags.includes(etag) || knownTags.includes('*')) void reply.status(304).send();
  else void reply.type('application/json; charset=utf-8').send(text);
}

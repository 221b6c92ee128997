import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** For the description of a public read. */
export const NOT_MODIFIED = { status: 304, description: 'Unchanged since the ETag in If-None-Match' };

/** A public read: may be kept by anybody, but is asked about each time; unchanged is a 304 without a body. */
export function sendCacheable(request: FastifyRequest, reply: FastifyReply, body: unknown): void {
  const text = JSON.stringify(body);
  sendTagged(request, reply, text, createHash('sha1').update(text).digest('base64url'));
}

export function sendTagged(request: FastifyRequest, reply: FastifyReply, text: string, tag: string): void {
  const etag = `"${tag}"`;
  void reply.headers({ 'cache-control': 'no-cache', etag });
  const known = (request.headers['if-none-match'] ?? '').split(',').map((item) => item.trim().replace(/^W\//, ''));
  if (known.includes(etag) || known.includes('*')) void reply.status(304).send();
  else void reply.type('application/json; charset=utf-8').send(text);
}

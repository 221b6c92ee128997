import type { FastifyInstance } from 'fastify';

/** In development localhost and 127.0.0.1 are the same origin, so that a page on localhost may call 127.0.0.1. */
function sameMachine(origin: string): string {
  return origin.replace('://localhost', '://127.0.0.1').replace('://[::1]', '://127.0.0.1');
}

/**
 * Returns a function that says whether pages of an origin may call the API. Allowed are the origins of the settings PUBLIC_URL
 * and CORS_ORIGINS.
 */
export function allowedOrigins(options: {
  publicUrl: string;
  corsOrigins: readonly string[];
  production: boolean;
}): (origin: string) => boolean {
  const normalize = options.production ? (origin: string) => origin : sameMachine;
  const allowed = new Set([options.publicUrl, ...options.corsOrigins].map((url) => normalize(new URL(url).origin)));
  return (origin) => allowed.has(normalize(origin.toLowerCase()));
}

const exposedHeaders =
  'ETag, Location, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Idempotency-Replayed, X-Request-Id';
/** How long a browser caches the answer to a preflight request. */
const MAX_AGE_SECONDS = '600';

/**
 * Sets the CORS headers for allowed origins and answers their preflight requests, which match no route. Nest's `enableCors` is
 * not used, because it sets headers on Node's response, even for requests without an origin; then every answer takes the slow
 * path through `writeHead`. http-app.ts sets the header `Vary: Origin` on every answer.
 */
export function answerCors(fastify: FastifyInstance, isAllowedOrigin: (origin: string) => boolean): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const { origin, 'access-control-request-method': asksFor, 'access-control-request-headers': headersWanted } = request.headers;
    if (origin === undefined || !isAllowedOrigin(origin)) return done();
    void reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposedHeaders });
    if (request.method !== 'OPTIONS' || asksFor === undefined) return done();
    void reply
      .status(204)
      .headers({
        vary: 'Origin, Access-Control-Request-Headers',
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
        'access-control-max-age': MAX_AGE_SECONDS,
        ...(headersWanted === undefined ? {} : { 'access-control-allow-headers': headersWanted }),
      })
      .send();
  });
}

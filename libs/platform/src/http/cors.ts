import type { FastifyInstance } from 'fastify';

/** Two names of the same machine are one origin while developing, so that a page on localhost reaches 127.0.0.1. */
function sameMachine(origin: string): string {
  return origin.replace('://localhost', '://127.0.0.1').replace('://[::1]', '://127.0.0.1');
}

/** The pages that may call us from a browser: our own, and those the operator lists. */
export function allowedOrigins(options: {
  publicUrl: string;
  corsOrigins: readonly string[];
  production: boolean;
}): (origin: string) => boolean {
  const normal = options.production ? (origin: string) => origin : sameMachine;
  const allowed = new Set(
    [new URL(options.publicUrl).origin, ...options.corsOrigins.map((url) => new URL(url).origin)].map(normal),
  );
  return (origin) => allowed.has(normal(origin.toLowerCase()));
}

const exposedHeaders = [
  'ETag',
  'Location',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Idempotency-Replayed',
  'X-Request-Id',
].join(', ');
/** How long a browser remembers a preflight. */
const MAX_AGE_SECONDS = '600';

/**
 * Tells the browsers of these pages that they may read our answers, and answers their preflights, which belong to no route. Nest's
 * own way (`enableCors`) sets the headers on Node's response as well, also where no page asks, and with that every answer
 * takes the slow way through `writeHead`. `Vary: Origin` stands on every answer.
 */
export function welcomePages(fastify: FastifyInstance, isAllowedOrigin: (origin: string) => boolean): void {
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

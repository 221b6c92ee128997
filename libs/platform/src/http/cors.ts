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

export const exposedHeaders = [
  'ETag',
  'Location',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Idempotency-Replayed',
  'X-Request-Id',
];

import { importCompiled, MONOLITH } from '../instruments/compiled.ts';
import type { MonolithConfig } from '../../apps/monolith/src/config.ts';

/**
 * Rate limits are off, because all buyers have the same IP address. Holds last longer than the longest run, so that none expires during
 * a run. With the level `warn` requests are not logged: their lines would fill the terminal and cost the reader of them more than the
 * service. A line takes 3 µs of the 130 µs of a hold (experiments.md).
 */
export const SETTINGS = {
  RATE_LIMIT_USER_PER_MINUTE: '0',
  RATE_LIMIT_WRITES_PER_MINUTE: '0',
  RATE_LIMIT_IP_PER_MINUTE: '0',
  RESERVATION_HOLD_SECONDS: '3600',
  LOG_LEVEL: 'warn',
};

/** The addresses of PostgreSQL and Redis. */
export interface ServerUrls {
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

/** The settings of the monolith for these servers, read by its own schema. */
export async function monolithConfig({ databaseUrl, redisUrl }: ServerUrls): Promise<MonolithConfig> {
  const { monolithConfig: schema } = await importCompiled<typeof import('../../apps/monolith/src/config.ts')>(
    `${MONOLITH}/config`,
  );
  const { loadConfig } = await importCompiled<typeof import('../../libs/platform/src/config/load-config.ts')>(
    'libs/platform/src/config/load-config',
  );
  return loadConfig(schema, { ...SETTINGS, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl });
}

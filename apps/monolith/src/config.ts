import * as settings from '#platform/config/settings';
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';

/** The settings of the monolith, read from environment variables. */
export const monolithConfig = settings.processSettings
  .extend(settings.databaseSettings.shape)
  .extend(settings.redisSettings.shape)
  .extend(settings.addressSettings.shape)
  .extend(settings.authenticationSettings.shape)
  .extend(settings.requestLimitSettings.shape)
  .extend(settings.purchaseSettings.shape)
  .extend(settings.paymentSettings.shape)
  .extend({
    JOBS_TRANSPORT: settings.jobSettings.shape.JOBS_TRANSPORT,
    JOBS_IN_MONOLITH: settings.jobSettings.shape.JOBS_IN_MONOLITH,
    PUSH_PROVIDER: settings.notificationSettings.shape.PUSH_PROVIDER,
    ALERT_WEBHOOK_URL: settings.notificationSettings.shape.ALERT_WEBHOOK_URL,
    ALERT_EMAIL: settings.notificationSettings.shape.ALERT_EMAIL,
    WEBHOOK_ALLOW_PRIVATE: settings.jobSettings.shape.WEBHOOK_ALLOW_PRIVATE,
  });

/**
 * The settings of `loader:run`. It reads no secret of the monolith: a loader talks to other systems, so it is the process that is easiest
 * to attack. Besides them it reads the keys that its sources name in their headers.
 */
export const loaderConfig = settings.processSettings
  .pick({ NODE_ENV: true, LOG_LEVEL: true })
  .extend(settings.databaseSettings.pick({ DATABASE_URL: true }).shape)
  .extend(settings.redisSettings.shape)
  .extend(settings.requestLimitSettings.pick({ REQUEST_DEADLINE_MS: true }).shape)
  .extend(settings.paymentSettings.pick({ STRIPE_API_BASE: true, STRIPE_SECRET_KEY: true }).shape)
  .extend(settings.notificationSettings.pick({ ALERT_WEBHOOK_URL: true, ALERT_EMAIL: true }).shape)
  .extend(settings.jobSettings.pick({ LOADER_SOURCES: true, TICKET_PUBLIC_KEYS: true }).shape);

/** The settings of `migrate`. It needs no others, so its pod in a cluster gets no other secret (k8s/migrate). */
export const migrateSettings = settings.databaseSettings
  .pick({ DATABASE_URL: true })
  .extend(settings.migrationSettings.shape)
  .extend({ NODE_ENV: settings.processSettings.shape.NODE_ENV, JOBS_TRANSPORT: settings.jobSettings.shape.JOBS_TRANSPORT });

/** The settings of the retention job, besides those of `migrate`. */
export const retentionConfig = settings.processSettings
  .pick({ NODE_ENV: true, LOG_LEVEL: true })
  .extend(settings.redisSettings.shape);

export type LoaderConfig = z.output<typeof loaderConfig>;

export type MonolithConfig = z.output<typeof monolithConfig> & {
  /** Only in the event loader: it reads ticket codes with these public keys and cannot write codes. */
  readonly ticketPublicKeys?: readonly string[];
};

/**
 * The settings with which the event loader builds the monolith's use cases. It runs only those that apply gate scans and partner sales.
 * They call no other service, take no payment and write no ticket code, so each secret is a random text that opens nothing.
 */
export function settingsForLoader(loader: LoaderConfig, ticketPublicKeys: readonly string[]): MonolithConfig {
  const { DATABASE_URL, REDIS_URL } = loader;
  const worthless = (): string => randomBytes(32).toString('base64');
  return {
    ...monolithConfig.parse({ DATABASE_URL, REDIS_URL }),
    ...loader,
    PAYMENT_PROVIDER: 'stripe',
    STRIPE_SECRET_KEY: worthless(),
    STRIPE_WEBHOOK_SECRET: worthless(),
    INTERNAL_AUTH_SECRET: [worthless()],
    TICKET_SIGNING_KEY: worthless(),
    ticketPublicKeys,
  };
}

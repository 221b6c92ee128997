import * as settings from '#platform/config/settings';
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
  });

/** The settings that `loader:run` reads in addition to `monolithConfig`. */
export const loaderSettings = settings.jobSettings.pick({ LOADER_SOURCES: true });

/** The settings of `migrate`. It needs no others, so its pod in a cluster gets no other secret (k8s/migrate). */
export const migrateSettings = settings.databaseSettings
  .pick({ DATABASE_URL: true })
  .extend(settings.migrationSettings.shape)
  .extend({ NODE_ENV: settings.processSettings.shape.NODE_ENV, JOBS_TRANSPORT: settings.jobSettings.shape.JOBS_TRANSPORT });

export type MonolithConfig = z.output<typeof monolithConfig>;

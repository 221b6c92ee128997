import {
  addressSettings,
  databaseSettings,
  requestLimitSettings,
  notificationSettings,
  processSettings,
  redisSettings,
} from '#platform/config/settings';
import { z } from 'zod';

/**
 * The settings that the notification worker reads from the environment, as a zod schema. Authentication settings are missing,
 * because the worker serves no signed-in callers.
 */
export const workerConfig = z.object({
  ...processSettings.shape,
  DATABASE_URL: databaseSettings.shape.DATABASE_URL,
  ...redisSettings.shape,
  ...addressSettings.shape,
  ...requestLimitSettings.shape,
  ...notificationSettings.shape,
});
export type WorkerConfig = z.output<typeof workerConfig>;

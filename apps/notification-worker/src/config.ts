import {
  addressSettings,
  databaseSettings,
  limitSettings,
  notificationSettings,
  processSettings,
  redisSettings,
} from '#platform/config/settings';
import { z } from 'zod';

/**
 * The settings that this service reads from the environment. It serves no signed-in callers, so it has no authentication
 * settings.
 */
export const workerConfig = z.object({
  ...processSettings.shape,
  ...databaseSettings.shape,
  ...redisSettings.shape,
  ...addressSettings.shape,
  ...limitSettings.shape,
  ...notificationSettings.shape,
});
export type WorkerConfig = z.output<typeof workerConfig>;

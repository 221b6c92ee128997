import {
  addressSettings,
  databaseSettings,
  limitSettings,
  notificationSettings,
  processSettings,
  redisSettings,
} from '#platform/config/settings';
import { z } from 'zod';

/** What this service reads from the environment. It has no callers of its own, hence no authentication settings. */
export const workerConfig = z.object({
  ...processSettings.shape,
  ...databaseSettings.shape,
  ...redisSettings.shape,
  ...addressSettings.shape,
  ...limitSettings.shape,
  ...notificationSettings.shape,
});
export type WorkerConfig = z.output<typeof workerConfig>;

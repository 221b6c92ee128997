import {
  addressSettings,
  databaseSettings,
  limitSettings,
  notificationSettings,
  processSettings,
  redisSettings,
} from '#platform/config/settings';
import { z } from 'zod';

const { EMAIL_PROVIDER, PUSH_PROVIDER } = notificationSettings.shape;

/** What this service reads from the environment. It has no callers of its own, hence no authentication settings. */
export const workerConfig = z.object({
  ...processSettings.shape,
  ...databaseSettings.shape,
  ...redisSettings.shape,
  ...addressSettings.shape,
  ...limitSettings.shape,
  ...notificationSettings.shape,
  // A provider that is not built must stop the start, not lose mails.
  EMAIL_PROVIDER: EMAIL_PROVIDER.refine((provider) => provider === 'mailbox', 'only mailbox is built in this version'),
  PUSH_PROVIDER: PUSH_PROVIDER.refine((provider) => provider === 'mailbox', 'only mailbox is built in this version'),
});
export type WorkerConfig = z.output<typeof workerConfig>;

import { z } from 'zod';
import * as settings from '#platform/config/settings';

/** The settings that the queue service reads from environment variables, with their defaults. */
export const queueServiceConfig = settings.processSettings
  .extend(settings.redisSettings.shape)
  .extend(settings.addressSettings.shape)
  .extend(settings.authenticationSettings.shape)
  .extend(settings.requestLimitSettings.shape)
  .extend(settings.queueSettings.shape)
  .extend({
    QUEUE_MAX_CONNECTIONS: z
      .string()
      .regex(/^\d+$/, 'must be a whole number')
      .transform(Number)
      .pipe(z.int().min(1).max(1_000_000))
      .default(18_000)
      .describe(
        'Most sockets and event streams one process holds; more get 503. The default is below the usual file limit of 20,000',
      ),
    QUEUE_CONFIRM_REPLICAS: z
      .string()
      .regex(/^\d+$/, 'must be a whole number')
      .transform(Number)
      .pipe(z.int().min(0).max(10))
      .default(0)
      .describe('How many replicas of Redis must confirm a join or grant (WAIT) before it is acknowledged; 0 without replicas'),
  });

/** The parsed settings of the queue service. */
export type QueueServiceConfig = z.output<typeof queueServiceConfig>;

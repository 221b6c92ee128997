import { z } from 'zod';
import * as settings from '#platform/config/settings';

export const queueServiceConfig = settings.processSettings
  .extend(settings.redisSettings.shape)
  .extend(settings.addressSettings.shape)
  .extend(settings.callerSettings.shape)
  .extend(settings.limitSettings.shape)
  .extend(settings.queueSettings.shape)
  .extend({
    QUEUE_MAX_CONNECTIONS: z
      .string()
      .regex(/^\d+$/, 'must be a whole number')
      .transform(Number)
      .pipe(z.int().min(1).max(1_000_000))
      .default(18_000)
      .describe('Sockets and streams one process takes before it says 503; below the usual file limit of 20,000'),
    QUEUE_CONFIRM_REPLICAS: z
      .string()
      .regex(/^\d+$/, 'must be a whole number')
      .transform(Number)
      .pipe(z.int().min(0).max(10))
      .default(0)
      .describe('How many replicas of Redis must have a join or grant before it counts (WAIT); 0 where there are none'),
  });

export type QueueServiceConfig = z.output<typeof queueServiceConfig>;

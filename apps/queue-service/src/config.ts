import type { z } from 'zod';
import * as settings from '#platform/config/settings';

/** The settings that the queue service reads from environment variables, with their defaults. */
export const queueServiceConfig = settings.processSettings
  .extend(settings.redisSettings.shape)
  .extend(settings.addressSettings.shape)
  .extend(settings.authenticationSettings.shape)
  .extend(settings.requestLimitSettings.shape)
  .extend(settings.queueSettings.shape)
  .extend({
    QUEUE_MAX_CONNECTIONS: settings
      .wholeNumber(1, 1_000_000)
      .default(18_000)
      .describe(
        'Most sockets and event streams one process holds; more get 503. The default is below the usual file limit of 20,000',
      ),
    QUEUE_CONFIRM_REPLICAS: settings
      .wholeNumber(0, 10)
      .default(0)
      .describe('How many replicas of Redis must confirm a join or grant (WAIT) before it is acknowledged; 0 without replicas'),
  });

/** The parsed settings of the queue service. */
export type QueueServiceConfig = z.output<typeof queueServiceConfig>;

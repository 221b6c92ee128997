import { publicUrls } from '#platform/config/settings';
import { ConsumerHeartbeats } from '#messaging/jobs/consumer-heartbeats';
import { allowedOrigins } from '#platform/http/cors';
import { createHttpApp } from '#platform/http/http-app';
import { apiDocsPrefixes, describeApi, serveApiDocs } from '#platform/http/openapi';
import { limitByAddress } from '#platform/limits/limit-hooks';
import { RateLimiter } from '#platform/limits/rate-limiter';
import type { Logger } from '#platform/logging/logger';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { AppModule, sendersOf, type QueueProcessor } from './app.module.ts';
import type { WorkerConfig } from './config.ts';
import { openParts } from './parts.ts';

const DESCRIPTION =
  'The mailbox that stands in for the providers of mails and pushes. Errors are application/problem+json with a stable code.';
/** The whole service before it listens on a port. */
export interface NotificationWorker {
  readonly app: NestFastifyApplication;
  /** Starts to take jobs from the queues. */
  start(): void;
}

/** Creates the whole service. It does not listen on a port and takes no jobs yet. */
export async function createNotificationWorker(config: WorkerConfig, logger: Logger): Promise<NotificationWorker> {
  const parts = await openParts(config, logger);
  // No route of the notification worker is for signed-in callers or for our other services.
  const internalSecrets: readonly string[] = [];
  const addressLimit = new RateLimiter(parts.redis, 'rate_limit:global', config.RATE_LIMIT_IP_PER_MINUTE, {
    service: 'notification-worker',
  });
  const app = await createHttpApp(AppModule.register(parts), {
    logger,
    identify: () => Promise.resolve(undefined),
    internalSecrets,
    trustedProxies: config.TRUSTED_PROXIES,
    publicUrl: publicUrls(config).publicUrl,
    isAllowedOrigin: allowedOrigins({
      publicUrl: publicUrls(config).publicUrl,
      corsOrigins: config.CORS_ORIGINS,
      production: config.NODE_ENV === 'production',
    }),
    requestDeadlineMs: config.REQUEST_DEADLINE_MS,
    logReadsEvery: config.LOG_READS_EVERY,
    publicPrefixes: apiDocsPrefixes,
    limitAddress: limitByAddress(addressLimit, internalSecrets),
  });
  parts.metrics.timeRequests(app.getHttpAdapter().getInstance() as unknown as FastifyInstance);
  await app.init();
  const facts = {
    title: 'Tribina notifications',
    description: DESCRIPTION,
    url: `http://127.0.0.1:${config.WORKER_PORT}`,
    contactUrl: publicUrls(config).publicUrl,
    withKeys: false,
    tags: { mailbox: 'The messages that would have been sent. Only without real providers.' },
  };
  serveApiDocs(app, describeApi(app, facts));
  const processors = [
    ...sendersOf(config).map(({ processor }) => app.get<QueueProcessor>(processor)),
    app.get(ConsumerHeartbeats),
  ];
  return { app, start: () => processors.forEach((processor) => processor.start()) };
}

import type { Server } from 'node:http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { publicUrls } from '#platform/config/settings';
import { Metrics } from '#platform/health/metrics';
import { allowedOrigins } from '#platform/http/cors';
import { createHttpApp } from '#platform/http/http-app';
import { identifyCallers } from '#platform/http/identity';
import { apiDocsPrefixes, describeApi, serveApiDocs } from '#platform/http/openapi';
import { limitByAddress } from '#platform/limits/limit-hooks';
import { RateLimiter } from '#platform/limits/rate-limiter';
import type { Logger } from '#platform/logging/logger';
import { connectRedis, whenReady } from '#platform/redis/redis-connection';
import { apiFacts, ASYNCAPI_PATH } from './api-facts.ts';
import type { QueueServiceConfig } from './config.ts';
import { describeSocket } from './waiting-room/inbound/asyncapi.ts';
import { ConnectionBudget } from './waiting-room/inbound/connection-budget.ts';
import { UpgradeAdapter } from './waiting-room/inbound/upgrade-adapter.ts';
import { WaitingRoomModule } from './waiting-room/waiting-room.module.ts';

/**
 * Command timeouts for Redis. Together they are below two seconds: while Redis is down a request first waits for its rate limit
 * check, then for its line command, and only then gets 503.
 */
const REDIS_TIMEOUT_MS = { lines: 1200, limits: 300 };

/** Builds the whole queue service. The caller makes it listen. Tests use this function too. */
export async function createQueueService(config: QueueServiceConfig, logger: Logger): Promise<NestFastifyApplication> {
  const redis = connectRedis(config.REDIS_URL, { name: 'queue-service', commandTimeoutMs: REDIS_TIMEOUT_MS.lines });
  const limitsRedis = connectRedis(config.REDIS_URL, { name: 'queue-limits', commandTimeoutMs: REDIS_TIMEOUT_MS.limits });
  const subscriber = connectRedis(config.REDIS_URL, { name: 'queue-subscriber' });
  // The queue service starts even while Redis is down; /health/ready then answers 503.
  await Promise.all([redis, limitsRedis, subscriber].map((connection) => whenReady(connection)));

  const metrics = new Metrics();
  const budget = new ConnectionBudget(config.QUEUE_MAX_CONNECTIONS);
  const isAllowedOrigin = allowedOrigins({
    publicUrl: publicUrls(config).publicUrl,
    corsOrigins: config.CORS_ORIGINS,
    production: config.NODE_ENV === 'production',
  });
  const app = await createHttpApp(
    WaitingRoomModule.register({ config, logger, metrics, connections: { redis, limitsRedis, subscriber }, budget }),
    {
      logger,
      identify: identifyCallers(config),
      internalSecrets: config.INTERNAL_AUTH_SECRET,
      trustedProxies: config.TRUSTED_PROXIES,
      publicUrl: publicUrls(config).queuePublicUrl,
      isAllowedOrigin,
      requestDeadlineMs: config.REQUEST_DEADLINE_MS,
      logReadsEvery: config.LOG_READS_EVERY,
      publicPrefixes: [...apiDocsPrefixes, ASYNCAPI_PATH],
      limitAddress: limitByAddress(
        new RateLimiter(limitsRedis, 'rate_limit:global', config.RATE_LIMIT_IP_PER_MINUTE, { service: 'queue-service' }),
        config.INTERNAL_AUTH_SECRET,
      ),
    },
  );
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  metrics.timeRequests(fastify);
  app.useWebSocketAdapter(new UpgradeAdapter(app.getHttpServer() as Server, fastify, { budget, isAllowedOrigin }));
  await app.init();
  const socketProtocol = describeSocket(publicUrls(config));
  fastify.get(ASYNCAPI_PATH, { config: { access: 'public' } }, () => socketProtocol);
  serveApiDocs(app, describeApi(app, apiFacts(publicUrls(config))));
  return app;
}

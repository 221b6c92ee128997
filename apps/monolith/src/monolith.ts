import { observeLoader } from '#event-loader/adapters/loader-status';
import { recordActs } from '#platform/audit/audit-hook';
import { publicUrls } from '#platform/config/settings';
import { allowedOrigins } from '#platform/http/cors';
import { createHttpApp } from '#platform/http/http-app';
import { identifyCallers } from '#platform/http/identity';
import { apiDocsPrefixes, describeApi, serveApiDocs } from '#platform/http/openapi';
import { AnswerSeal } from '#platform/idempotency/answer-seal';
import { IdempotencyCache } from '#platform/idempotency/idempotency-cache';
import { guardIdempotency } from '#platform/idempotency/idempotency-hook';
import { IdempotencyRows } from '#platform/idempotency/idempotency-rows';
import { limitByAddress, limitByFan } from '#platform/limits/limit-hooks';
import { RateLimiter } from '#platform/limits/rate-limiter';
import { observeOutbox } from '#messaging/outbox/outbox-metrics';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { apiFacts } from './api-facts.ts';
import { AppModule, type AppParts } from './app.module.ts';
import type { Resources } from './resources.ts';
import { serveWebPages, webPrefixes } from './web-pages.ts';

/**
 * Builds the whole monolith, which does not listen for requests yet. Tests use the same function, most of them without background
 * work.
 */
export async function createMonolith(
  resources: Resources,
  parts: AppParts = { backgroundWork: true },
): Promise<NestFastifyApplication> {
  const { config, logger, metrics, dataSource, redis } = resources;
  observeOutbox(metrics.registry, dataSource);
  observeLoader(metrics.registry, (sql) => dataSource.query(sql));
  const app = await createHttpApp(AppModule.register(resources, parts), {
    logger,
    identify: identifyCallers(config),
    internalSecrets: config.INTERNAL_AUTH_SECRET,
    trustedProxies: config.TRUSTED_PROXIES,
    publicUrl: publicUrls(config).publicUrl,
    isAllowedOrigin: allowedOrigins({
      publicUrl: publicUrls(config).publicUrl,
      corsOrigins: config.CORS_ORIGINS,
      production: config.NODE_ENV === 'production',
    }),
    requestDeadlineMs: config.REQUEST_DEADLINE_MS,
    logReadsEvery: config.LOG_READS_EVERY,
    publicPrefixes: [...apiDocsPrefixes, ...webPrefixes],
    limitAddress: limitByAddress(
      new RateLimiter(redis, 'rate_limit:global', config.RATE_LIMIT_IP_PER_MINUTE),
      config.INTERNAL_AUTH_SECRET,
    ),
    afterAccess: (fastify) => {
      metrics.timeRequests(fastify);
      recordActs(fastify, dataSource);
      const seal = new AnswerSeal(config.INTERNAL_AUTH_SECRET);
      guardIdempotency(fastify, { cache: new IdempotencyCache(redis), rows: new IdempotencyRows(dataSource), seal, logger });
      limitByFan(fastify, {
        purchases: new RateLimiter(redis, 'rate_limit:user', config.RATE_LIMIT_USER_PER_MINUTE),
        writes: new RateLimiter(redis, 'rate_limit:writes', config.RATE_LIMIT_WRITES_PER_MINUTE),
      });
    },
  });
  await serveWebPages(app.getHttpAdapter().getInstance() as unknown as FastifyInstance, config);
  await app.init();
  serveApiDocs(app, describeApi(app, apiFacts(publicUrls(config))));
  return app;
}
